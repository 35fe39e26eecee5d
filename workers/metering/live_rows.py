"""Write the newest reading of each address, and the finished steps of its history.

``sampling.apply`` calls ``write`` in the transaction that stores the samples. So a cycle is counted
once, also if its worker is killed. The number of queries of a cycle depends neither on the number
of spaces nor of addresses. Addresses without a change are not written.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from typing import Any

from tenants import live_readings, reading_history
from tenants.models import Address, AddressReading, SpaceReading
from tenants.reading_history import MINUTES, QUARTERS, Step
from workers.messaging.observed import AddressGauges, InstanceSnapshot

# ``oldest_at`` is computed from an age, so it wavers between two samples of the same message.
_WAVERS = timedelta(seconds=2)
_WRITTEN = [f.name for f in AddressReading._meta.concrete_fields if not f.primary_key]
# A space may have thousands of addresses, and a cycle makes an object of each. So it reads no
# other columns, and copies gauges without ``asdict``, which costs ten times as much.
_READ = ["address", "type", "space", *(f"reading__{name}" for name in _WRITTEN)]
_GAUGES = [f.name for f in fields(AddressGauges) if f.name != "oldest_ms"]


@dataclass(frozen=True)
class Cycle:
    """What one sampling cycle got from a space.

    ``instances`` has the snapshots that arrived, by instance name. ``silent`` names the instances
    that did not answer.
    """

    space_id: str
    taken_at: datetime
    instances: Mapping[str, InstanceSnapshot]
    silent: Collection[str] = ()


@dataclass
class _Changes:
    """Collects what a cycle writes: rows of readings, and finished steps by table of history."""

    rows: list[AddressReading] = field(default_factory=list)
    steps: dict[str, list[Step]] = field(
        default_factory=lambda: {MINUTES.table: [], QUARTERS.table: []}
    )


def write(cycles: Iterable[Cycle]) -> dict[str, list[str]]:
    """Store the newest reading of each address of some spaces, and the steps that ended.

    Returns the ids of the addresses whose reading has changed, by space. Call it in the transaction
    that stores the samples. A space of which no instance answered is left out. The number of
    queries does not depend on the number of spaces.
    """
    answering = {cycle.space_id: cycle for cycle in cycles if cycle.instances}
    if not answering:
        return {}
    stored = SpaceReading.objects.in_bulk(answering)
    before = {one: dict(stored[one].answered) if one in stored else {} for one in answering}
    answered = {one: _answered(cycle, before[one]) for one, cycle in answering.items()}
    changes = _Changes()
    addresses = Address.objects.select_related("reading").filter(
        space_id__in=answering, deleted_at__isnull=True
    )
    for address in addresses.only(*_READ).order_by("id"):
        one = address.space_id
        _Update(answering[one], before[one], answered[one], address).collect(changes)
    AddressReading.objects.bulk_create(
        changes.rows,
        update_conflicts=True,
        unique_fields=["address"],
        update_fields=_WRITTEN,
    )
    for table in (MINUTES, QUARTERS):
        reading_history.store(table, changes.steps[table.table])
    SpaceReading.objects.bulk_create(
        [SpaceReading(space_id=one, answered=answered[one]) for one in sorted(answered)],
        update_conflicts=True,
        unique_fields=["space"],
        update_fields=["answered"],
    )
    changed: dict[str, list[str]] = {one: [] for one in answering}
    for row in changes.rows:
        changed[row.address.space_id].append(row.address_id)
    return changed


def _answered(cycle: Cycle, before: Mapping[str, str]) -> dict[str, str]:
    """Return when each instance of the cycle's space last answered, this cycle included."""
    # An instance that is neither read nor silent does not exist any more.
    kept = {name: at for name, at in before.items() if name in cycle.silent}
    return {**kept, **dict.fromkeys(cycle.instances, cycle.taken_at.isoformat())}


class _Update:
    """Computes the next reading of one address from a cycle and from its stored reading.

    ``before`` and ``answered`` map each instance to the time when it last answered, before and
    after this cycle.
    """

    def __init__(
        self,
        cycle: Cycle,
        before: Mapping[str, str],
        answered: Mapping[str, str],
        address: Address,
    ) -> None:
        self._cycle, self._before, self._answered = cycle, before, answered
        self._address = address
        stored = getattr(address, "reading", None)
        self._old = stored or AddressReading(address=address)

    def collect(self, changes: _Changes) -> None:
        """Add to ``changes`` the new reading and the finished steps; nothing if idle."""
        old, address = self._old, self._address
        parts = self._parts()
        if not parts and not old.parts:
            return  # no instance has it yet
        came, went = self._growth(parts)
        rate_in, rate_out = self._rates(came, went)
        is_same = parts == old.parts and (came, went) == (0, 0)
        is_same = is_same and (rate_in, rate_out) == (old.in_per_second, old.out_per_second)
        if is_same and old.minute_at is None and old.quarter_at is None:
            return  # idle, as most addresses are
        row = AddressReading(
            address=address,
            parts=parts,
            messages_in=old.messages_in + came,
            messages_out=old.messages_out + went,
            in_per_second=rate_in,
            out_per_second=rate_out,
        )
        routed = live_readings.is_routed(self._answered)
        was = live_readings.add_up(address.type, old.parts, routed=routed)
        now = live_readings.add_up(address.type, parts, routed=routed)
        is_active = bool(came or went) or reading_history.differ(was, now)
        for table in (MINUTES, QUARTERS):
            ended = self._advance(table, row, (came, went), is_active)
            if ended:
                changes.steps[table.table].append(Step(address.id, *ended, was))
        if any(getattr(row, name) != getattr(old, name) for name in _WRITTEN):
            changes.rows.append(row)

    def _advance(
        self,
        table: reading_history.History,
        row: AddressReading,
        growth: tuple[int, int],
        is_active: bool,
    ) -> tuple[datetime, int, int] | None:
        """Count ``growth`` in the running step of ``row``, if the address is active.

        If the step before has ended, return its start, messages in and messages out, else None.
        """
        old, prefix = self._old, table.prefix
        at, came, went = (getattr(old, f"{prefix}_{name}") for name in ("at", "in", "out"))
        now_at = reading_history.floor(self._cycle.taken_at, table.step)
        ended = None
        if at is not None and at != now_at:
            ended, at, came, went = (at, came, went), None, 0, 0
        if is_active:
            at, came, went = now_at, came + growth[0], went + growth[1]
        setattr(row, f"{prefix}_at", at)
        setattr(row, f"{prefix}_in", came)
        setattr(row, f"{prefix}_out", went)
        return ended

    def _parts(self) -> dict[str, dict[str, Any]]:
        parts = {n: p for n, p in self._old.parts.items() if n in self._cycle.silent}
        for name, snapshot in self._cycle.instances.items():
            gauges = snapshot.gauges.get(self._address.address)
            if gauges is not None:
                parts[name] = self._part(name, snapshot.boot_id, gauges)
        return parts

    def _part(self, instance: str, boot_id: str, gauges: AddressGauges) -> dict[str, Any]:
        values = {name: getattr(gauges, name) for name in _GAUGES}
        if gauges.oldest_ms is not None:
            oldest_at = self._cycle.taken_at - timedelta(milliseconds=gauges.oldest_ms)
            last = self._old.parts.get(instance, {}).get("oldest_at")
            if last and abs(datetime.fromisoformat(last) - oldest_at) < _WAVERS:
                oldest_at = datetime.fromisoformat(last)
            values["oldest_at"] = oldest_at.isoformat()
        known = {name: value for name, value in values.items() if value is not None}
        return {"boot_id": boot_id, **known}

    def _growth(self, parts: Mapping[str, Mapping[str, Any]]) -> tuple[int, int]:
        """Return the messages in and out since the last reading.

        Those of an instance that never answered before are left out: nobody knows when they came.
        ``parts`` are the address's new values by instance.
        """
        came = went = 0
        for name in self._cycle.instances:
            now, old = parts.get(name), self._old.parts.get(name, {})
            if now is None or name not in self._before:
                continue
            is_same = old.get("boot_id") == now["boot_id"]
            last_in, last_out = (old["arrived"], old["left"]) if is_same else (0, 0)
            # A topic's messages out fall when a subscriber's queue vanishes.
            came += max(0, now["arrived"] - last_in)
            went += max(0, now["left"] - last_out)
        return came, went

    def _rates(self, came: int, went: int) -> tuple[float | None, float | None]:
        times = [self._before[name] for name in self._cycle.instances if name in self._before]
        if not times:
            return None, None
        elapsed = self._cycle.taken_at - datetime.fromisoformat(min(times))
        seconds = elapsed.total_seconds()
        if seconds <= 0:
            return self._old.in_per_second, self._old.out_per_second
        return round(came / seconds, 3), round(went / seconds, 3)
