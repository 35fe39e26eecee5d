"""Read the newest reading of each address from the database; no broker or router is called.

API, portal and the metrics of tenants call this module. ``workers.metering.live_rows`` writes the
rows, and also uses ``add_up``, which adds up the parts of several instances.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from controlplane.core import address_types
from controlplane.core.address_types import BrokerForm
from controlplane.core.instance_names import Kind
from tenants.models import Address, AddressReading, AddressSpace, SpaceReading

# Names in ``AddressReading.parts``, which are persistent. Their values are added up over the
# instances.
_SUMS = (
    "depth",
    "stored_bytes",
    "delivering",
    "consumers",
    "producers",
    "expired",
    "dead_lettered",
)


# Several cycles of the sampler: an older reading shows that an instance does not answer.
_STALE_AFTER = timedelta(minutes=2)


@dataclass(frozen=True)
class Gauges:
    """The present values of one address, added up over all its instances.

    None: no instance reports such a value for this address. ``oldest_at`` is when the oldest stored
    message arrived; None also if nothing is stored. ``expired`` and ``dead_lettered`` are messages
    since each instance started, so they return to 0 when it restarts.
    """

    depth: int | None = None
    stored_bytes: int | None = None
    delivering: int | None = None
    consumers: int | None = None
    producers: int | None = None
    expired: int | None = None
    dead_lettered: int | None = None
    oldest_at: datetime | None = None


@dataclass(frozen=True)
class LiveReading:
    """The newest reading of one address.

    * ``as_of``: the oldest of the times at which the instances of the address last answered. All
      values are at least as new.
    * ``messages_in``, ``messages_out``: messages that Waypost saw arrive and leave since the first
      reading of the address.
    * ``in_per_second``, ``out_per_second``: messages between the last two samples, per second; None
      before the second sample.
    """

    as_of: datetime
    messages_in: int
    messages_out: int
    in_per_second: float | None
    out_per_second: float | None
    gauges: Gauges

    def is_stale(self, now: datetime) -> bool:
        """Return whether the reading is so old that an instance of the address does not answer.

        Its rates then say nothing about the present.
        """
        return now - self.as_of > _STALE_AFTER

    @property
    def oldest_seconds(self) -> int | None:
        """The age in seconds of the oldest stored message at ``as_of``; None if none is known."""
        oldest_at = self.gauges.oldest_at
        return None if oldest_at is None else max(0, int((self.as_of - oldest_at).total_seconds()))


def of_addresses(space: AddressSpace, addresses: Iterable[Address]) -> dict[str, LiveReading]:
    """Return {address id: reading} of ``addresses``, which belong to ``space``, by two queries.

    Addresses for which no instance has reported a value yet are missing in the result.
    """
    types = {address.id: address.type for address in addresses}
    stored = SpaceReading.objects.filter(space=space).first()
    if stored is None:
        return {}
    return {
        row.address_id: _reading(row, types[row.address_id], stored.answered)
        for row in AddressReading.objects.filter(address__in=types)
        if row.parts
    }


def of_spaces(
    space_ids: Iterable[str], most: int | None = None
) -> dict[str, dict[str, LiveReading]]:
    """Return {space id: {name of the address: reading}} of some spaces, by two queries.

    A space that was never read is missing in the result. So are deleted addresses, and those for
    which no instance has reported a value yet. With ``most``, the result has only the first
    ``most`` readings by the names of space and address.
    """
    stored = {row.space_id: row.answered for row in SpaceReading.objects.filter(pk__in=space_ids)}
    found: dict[str, dict[str, LiveReading]] = {space_id: {} for space_id in stored}
    rows = (
        AddressReading.objects.select_related("address")
        .filter(address__space__in=stored, address__deleted_at__isnull=True)
        .exclude(parts={})
        .order_by("address__space__name", "address__space_id", "address__address")
    )
    for row in rows[:most].iterator():
        address = row.address
        reading = _reading(row, address.type, stored[address.space_id])
        found[address.space_id][address.address] = reading
    return found


def add_up(address_type: str, parts: Mapping[str, Mapping[str, Any]], *, routed: bool) -> Gauges:
    """Add up the values of one address over its instances.

    ``parts`` is ``AddressReading.parts``: {instance: {name: value}}. A value that no instance
    reports is None. ``oldest_at`` is the earliest of all. ``routed``: the space has routers. Then
    the ``consumers`` and ``producers`` that brokers report for a queue, a dead-letter address or a
    subscription are left out, because these are the routers themselves.
    """
    row = address_types.BY_SLUG.get(address_type)
    is_queue = row is not None and row.broker_form in (BrokerForm.QUEUE, BrokerForm.QUEUE_OF_TOPIC)
    found: dict[str, Any] = {}
    for name in _SUMS:
        ignores_brokers = routed and is_queue and name in ("consumers", "producers")
        known = [
            part[name]
            for instance, part in parts.items()
            if part.get(name) is not None
            and not (ignores_brokers and instance.startswith(f"{Kind.BROKER}-"))
        ]
        found[name] = sum(known) if known else None
    oldest = [part["oldest_at"] for part in parts.values() if part.get("oldest_at")]
    return Gauges(**found, oldest_at=datetime.fromisoformat(min(oldest)) if oldest else None)


def is_routed(instances: Iterable[str]) -> bool:
    """Return whether one of ``instances``, names such as ``router-0``, is a router."""
    return any(instance.startswith(f"{Kind.ROUTER}-") for instance in instances)


def _reading(row: AddressReading, address_type: str, answered: Mapping[str, str]) -> LiveReading:
    # An instance that no longer exists has no time. If none of them exists, the oldest answer of
    # the space counts.
    times = [answered[instance] for instance in row.parts if instance in answered]
    return LiveReading(
        as_of=datetime.fromisoformat(min(times or answered.values())),
        messages_in=row.messages_in,
        messages_out=row.messages_out,
        in_per_second=row.in_per_second,
        out_per_second=row.out_per_second,
        gauges=add_up(address_type, row.parts, routed=is_routed(answered)),
    )
