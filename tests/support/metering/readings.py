"""Snapshots and rounds that are easy to read, for the metering tests."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from workers.messaging.observed import AddressCounters, ConnectionSeen, InstanceSnapshot
from workers.metering import collector
from workers.metering.collector import Advance, Reading
from workers.metering.source_states import SampleRow, SourceState

TENANT, SPACE_ID = "ten_a", "spc_1"
TYPES = {"orders": "queue", "events": "topic", "rpc": "anycast"}
_DAY = datetime(2026, 11, 21, tzinfo=UTC)


def at(hour: int, minute: int = 0, second: float = 0) -> datetime:
    return _DAY + timedelta(hours=hour, minutes=minute, seconds=second)


def snapshot(
    boot_id: str = "boot-1", *, opened: int = 0, open_now: int = 0, **addresses: Any
) -> InstanceSnapshot:
    """A snapshot; ``orders=(5, 2)`` is messages in and out, a third figure is stored bytes."""
    counters = [
        AddressCounters(name, *figures) if isinstance(figures, tuple) else figures
        for name, figures in addresses.items()
    ]
    seen = [ConnectionSeen(str(n), "app", "c", "127.0.0.1") for n in range(open_now)]
    return InstanceSnapshot(boot_id, counters, seen, opened)


def topic(messages_in: int, queues: Mapping[str, int]) -> AddressCounters:
    return AddressCounters("events", messages_in, sum(queues.values()), queues_out=queues)


def queue(messages_in: int, messages_out: int, life: str) -> AddressCounters:
    """The queue ``orders`` under the broker's id for it."""
    return AddressCounters("orders", messages_in, messages_out, incarnation=life)


class Rounds:
    """Plays rounds of one space through the pure collector and keeps what it is told."""

    def __init__(self) -> None:
        self.states: tuple[SourceState, ...] = ()
        self.ended: list[SourceState] = []
        self.rows: list[SampleRow] = []

    def play(
        self, now: datetime, cut_at: datetime | None = None, **instances: InstanceSnapshot
    ) -> list[SampleRow]:
        """One round; instances by name with ``_`` for ``-``. Returns the rows it must land."""
        named = {name.replace("_", "-"): taken for name, taken in instances.items()}
        reading = Reading(TENANT, SPACE_ID, now, named, TYPES)
        return self._take(collector.advance(self.states, reading, cut_at=cut_at))

    def land(self) -> list[SampleRow]:
        """The minute's landing."""
        steps = [collector.land(state) for state in self.states if state.unlanded]
        landed = {state.source: state for step in steps for state in step.states}
        kept = tuple(landed.get(state.source, state) for state in self.states)
        return self._take(Advance(kept, tuple(row for step in steps for row in step.rows)))

    def state(self, instance: str) -> SourceState:
        return next(s for s in self.states if s.source == f"{SPACE_ID}/{instance}")

    def _take(self, step: Advance) -> list[SampleRow]:
        self.states = tuple(state for state in step.states if not state.ended)
        self.ended += [state for state in step.states if state.ended]
        self.rows += step.rows
        return list(step.rows)


def rows_of(rows: list[SampleRow], address: str) -> list[SampleRow]:
    return [row for row in rows if row.address == address]
