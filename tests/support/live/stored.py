"""Many spaces and addresses with readings, written in bulk: the actions would take hours."""

import copy
from collections.abc import Sequence
from datetime import datetime

from controlplane.core import ids
from tenants.models import Address, AddressReading, AddressSpace, SpaceReading, Tenant
from tests.support import domain
from tests.support.portal import rows


def spaces(tenant: Tenant, count: int, addresses: int, now: datetime) -> Sequence[AddressSpace]:
    """Return ``count`` Active spaces with ``addresses`` Active queues each, all of them read."""
    pattern = domain.space(tenant, "brokered")
    rows.real(pattern)
    pattern.refresh_from_db()
    made = []
    for number in range(count):
        space = copy.copy(pattern)
        space.pk, space.name = ids.space_id(), f"live-{number:04}"
        made.append(space)
    AddressSpace.objects.bulk_create(made, batch_size=500)
    SpaceReading.objects.bulk_create(
        [SpaceReading(space=space, answered={"broker-0": now.isoformat()}) for space in made]
    )
    queue = domain.address(pattern, "orders")
    rows.real(queue)
    queue.refresh_from_db()
    for space in made:
        queues = [_queue_of(space, queue, number) for number in range(addresses)]
        Address.objects.bulk_create(queues)
        AddressReading.objects.bulk_create([_reading(row, now) for row in queues])
    return made


def _queue_of(space: AddressSpace, pattern: Address, number: int) -> Address:
    queue = copy.copy(pattern)
    queue.pk, queue.space, queue.address = ids.address_id(), space, f"queue-{number:04}"
    return queue


def _reading(address: Address, now: datetime) -> AddressReading:
    part = {
        "boot_id": "b",
        "arrived": 90,
        "left": 20,
        "depth": 70,
        "stored_bytes": 7000,
        "delivering": 3,
        "consumers": 2,
        "producers": 1,
        "oldest_at": now.isoformat(),
        "expired": 0,
        "dead_lettered": 0,
    }
    return AddressReading(
        address=address,
        parts={"broker-0": part},
        messages_in=90,
        messages_out=20,
        in_per_second=1.5,
        out_per_second=0.5,
    )
