"""The lists of client connections of deleted spaces."""

import pytest
from django.utils import timezone

from tenants.models import AddressSpace, ClientConnection, InstanceConnections
from tests.support.reconcile import rows
from workers import tasks
from workers.messaging.observed import ConnectionSeen, InstanceSnapshot
from workers.metering import connection_lists

pytestmark = pytest.mark.django_db


def store(space: AddressSpace) -> None:
    """Store the list of a sampling cycle that has read one connection."""
    seen = ConnectionSeen("c1", "alice", "app", "10.0.0.1:5", "AMQP")
    taken = {"broker-0": InstanceSnapshot("boot-1", (), (seen,), 0)}
    connection_lists.store(space.id, taken, existing=taken, as_of=timezone.now())


def test_lists_that_a_late_cycle_stores_of_a_deleted_space_are_deleted() -> None:
    tenant = rows.make_tenant()
    kept, gone = (rows.make_space(tenant, name=name) for name in ("kept", "gone"))
    store(kept)
    now = timezone.now()
    AddressSpace.objects.filter(pk=gone.pk).update(deletion_requested_at=now, deleted_at=now)
    store(gone)

    tasks.delete_expired()

    assert [row.space_id for row in InstanceConnections.objects.all()] == [kept.pk]
    assert [row.space_id for row in ClientConnection.objects.all()] == [kept.pk]
    assert connection_lists.delete_ended() == 0
