"""From cumulative snapshots to bronze rows: the pure core of metering.

* ``advance`` takes the stored states of one space's sources and the snapshots of one sampling
  cycle. It returns the next states and the rows that must be landed now.
* ``land`` turns one source's state into rows.

``sampling`` and ``landing`` call it. It uses no clock, database or network.

Inside one incarnation every counter only grows. ``boot_id`` names the incarnation of the process.
``epoch`` counts how often an address began again within it: after a counter reset, after the
address was missing, or after its broker created it again. Gauges become running integrals: the
value seen last times the time since then.

The end of a bucket or of an incarnation lands a whole snapshot: every address once more, idle ones
too. So any other file may be lost without a change of any usage cell.
Rules: design of the lakehouse, section 2.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from plans.usage.meters import (
    CONNECTION_MS,
    CONNECTIONS_OPENED,
    MESSAGES_IN,
    MESSAGES_OUT,
    PEAK_CONNECTIONS,
    STORED_BYTE_MS,
)
from workers.messaging.observed import AddressCounters, InstanceSnapshot
from workers.metering.buckets import Clock
from workers.metering.counters import NOTHING, Counters
from workers.metering.source_states import (
    SPACE,
    AddressState,
    Mark,
    Retired,
    SampleRow,
    SourceState,
)

# The value of a gauge is unknown in a longer silence, so the time beyond this is not billed.
LONGEST_STEP = timedelta(minutes=2)
_TOPIC = "topic"
_REPEATS = 2  # at so many ends of buckets an address that is gone is landed again
_MARKS_KEPT = 96  # a day of buckets: ``live`` is exact while the pipeline lags no further


@dataclass(frozen=True)
class Reading:
    """One sampling cycle of one space: snapshots by instance name, and the type of each address.

    ``taken_at`` is when the last snapshot arrived. An instance that did not answer has no entry.
    """

    tenant_id: str
    space_id: str
    taken_at: datetime
    instances: Mapping[str, InstanceSnapshot]
    types: Mapping[str, str]


@dataclass(frozen=True)
class Advance:
    """The next states (those of ended incarnations too) and the rows to land with them."""

    states: tuple[SourceState, ...]
    rows: tuple[SampleRow, ...]


def advance(
    states: Iterable[SourceState],
    reading: Reading,
    *,
    cut_at: datetime | None = None,
    begins_at: datetime | None = None,
) -> Advance:
    """Return the states after one cycle, and the rows that the cycle itself must land.

    ``states`` are the space's sources that have not ended. With ``cut_at`` the bucket ends there:
    this cycle still belongs to the bucket that ends, all later ones to the bucket that begins.
    ``begins_at`` is the earliest begin of the first bucket of a space that was never sampled.
    """
    known = {state.source: state for state in states}
    space = known.pop(_name(reading, SPACE), None) or _fresh(reading, SPACE, SPACE)
    clock = Clock(reading.taken_at, space.bucket_at or begins_at, cut_at)
    done: list[SourceState] = []
    rows: list[SampleRow] = []
    for instance, snapshot in sorted(reading.instances.items()):
        previous = known.pop(_name(reading, instance), None)
        if previous is not None and previous.boot_id != snapshot.boot_id:
            # The instance restarted: its previous incarnation ended with what was seen last.
            _collect(end(previous), done, rows)
            previous = None
        state = previous or _fresh(reading, instance, snapshot.boot_id)
        _collect(_step(state, snapshot, reading, clock), done, rows)
    if reading.instances:  # otherwise the number of connections is unknown, not zero
        _collect(_step(space, None, reading, clock), done, rows)
    else:
        done.append(space)
    # Sources left in ``known`` did not answer; they keep their state.
    return Advance((*done, *known.values()), tuple(rows))


def land(state: SourceState, *, is_end: bool = False) -> Advance:
    """Return the state with the next ``seq`` and its rows: a heartbeat, and what moved.

    At the end of a bucket or of an incarnation (``is_end``) the rows are a whole snapshot: every
    address that ever counted something, and the addresses that disappeared recently. A source that
    was never sampled has nothing to land.
    """
    if state.sampled_at is None or state.bucket_at is None:
        return Advance((state,), ())
    known = [*state.addresses.items(), *state.retired]
    due = [(name, address) for name, address in known if _is_due(address, is_end)]
    landed = replace(
        state,
        seq=state.seq + 1,
        unlanded=False,
        unclosed=state.unclosed and not is_end,
        addresses={n: _landed(address, is_end) for n, address in state.addresses.items()},
        retired=_still_repeated(state.retired, is_end),
    )
    taken_at = max(state.sampled_at, state.bucket_at)  # the clock may have been set back
    heartbeat = SampleRow(
        state.tenant_id,
        state.space_id,
        state.source,
        state.boot_id,
        landed.seq,
        taken_at,
        state.bucket_at,
        counters=state.counters,
    )
    rows = [_address_row(heartbeat, name, address) for name, address in due]
    return Advance((landed,), (heartbeat, *sorted(rows, key=lambda row: (row.address, row.epoch))))


def end(state: SourceState) -> Advance:
    """Return the ended state of an incarnation, with a whole snapshot of what was seen last."""
    rows: list[SampleRow] = []
    last = replace(_closed(state, rows), ended=True, connections=0)
    return Advance((last,), tuple(rows))


def _collect(step: Advance, done: list[SourceState], rows: list[SampleRow]) -> None:
    done.extend(step.states)
    rows.extend(step.rows)


def _step(
    state: SourceState, snapshot: InstanceSnapshot | None, reading: Reading, clock: Clock
) -> Advance:
    """Return one source after one cycle; ``snapshot`` is None for the space's own source."""
    rows: list[SampleRow] = []
    before = state.bucket_at or clock.regular
    bucket_at = clock.bucket_of_sample(before)
    if before < bucket_at:  # the sample is too late for the old bucket
        state = _closed(state, rows)
    if state.bucket_at != bucket_at:
        state = _open_bucket(state, bucket_at)
    if snapshot is None:
        state = _observe_space(state, reading)
    else:
        state = _observe(state, snapshot, reading)
    if bucket_at < clock.current:  # the sample was the last one of its bucket
        state = _open_bucket(_closed(state, rows), clock.current)
    return Advance((state,), tuple(rows))


def _is_due(address: AddressState, is_end: bool) -> bool:
    is_repeated = is_end and (address.present or address.fresh > 0)
    return address.moved or (is_repeated and any(address.counters.values()))


def _landed(address: AddressState, is_end: bool) -> AddressState:
    return replace(address, moved=False, fresh=max(0, address.fresh - is_end))


def _still_repeated(retired: tuple[Retired, ...], is_end: bool) -> tuple[Retired, ...]:
    landed = ((name, _landed(address, is_end)) for name, address in retired)
    return tuple((name, address) for name, address in landed if address.fresh)


def _closed(state: SourceState, rows: list[SampleRow]) -> SourceState:
    """Return the state after a whole snapshot, which is added to ``rows``.

    Without a sample since the last whole snapshot there is nothing to add.
    """
    if not state.unclosed:
        return state
    landed = land(state, is_end=True)
    rows.extend(landed.rows)
    return landed.states[0]


def _open_bucket(state: SourceState, bucket_at: datetime) -> SourceState:
    mark = Mark(bucket_at, state.used_in, state.used_out)
    marks = (*state.marks, mark)[-_MARKS_KEPT:]
    # A peak is that of one bucket; all other counters run through the whole incarnation.
    counters = state.counters.having(peak_connections=0)
    return replace(state, bucket_at=bucket_at, counters=counters, marks=marks)


def _observe_space(state: SourceState, reading: Reading) -> SourceState:
    connections = sum(len(snapshot.connections) for snapshot in reading.instances.values())
    peak = max(state.counters[PEAK_CONNECTIONS], connections)
    return replace(
        state,
        sampled_at=reading.taken_at,
        counters=state.counters.having(peak_connections=peak),
        unlanded=True,
        unclosed=True,
    )


def _observe(state: SourceState, snapshot: InstanceSnapshot, reading: Reading) -> SourceState:
    elapsed_ms = _elapsed_ms(state.sampled_at, reading.taken_at)
    seen = {c.address: _observe_address(state, c, reading, elapsed_ms) for c in snapshot.addresses}
    olds = state.addresses.items()
    gone = {name: _gone(old) for name, old in olds if name not in seen}
    # Old epochs of addresses that began again.
    over = tuple((n, _gone(a)) for n, a in olds if n in seen and seen[n].epoch != a.epoch)
    used_in, used_out = _used(state, seen)
    opened = state.counters[CONNECTIONS_OPENED]
    return replace(
        state,
        sampled_at=reading.taken_at,
        unlanded=True,
        unclosed=True,
        addresses={**gone, **seen},
        retired=(*state.retired, *over),
        connections=len(snapshot.connections),
        counters=state.counters.having(
            # Each value is a lower bound while a login is in progress, so the maximum is right.
            connections_opened=max(opened, snapshot.connections_opened),
            # The number seen last is taken to hold until now.
            connection_ms=state.counters[CONNECTION_MS] + state.connections * elapsed_ms,
        ),
        used_in=state.used_in + used_in,
        used_out=state.used_out + used_out,
    )


def _observe_address(
    state: SourceState, counters: AddressCounters, reading: Reading, elapsed_ms: int
) -> AddressState:
    old = state.addresses.get(counters.address)
    kind = reading.types.get(counters.address) or (old.type if old else "")
    is_new = old is None or _is_next_epoch(old, counters)
    before = AddressState(kind) if old is None or is_new else old
    seen = replace(
        before,
        type=kind,
        epoch=0 if old is None else old.epoch + is_new,
        present=True,
        counters=Counters(
            {
                MESSAGES_IN: counters.messages_in,
                MESSAGES_OUT: _out(before, counters),
                STORED_BYTE_MS: before.counters[STORED_BYTE_MS] + before.stored_bytes * elapsed_ms,
            }
        ),
        queues_out=dict(counters.queues_out),
        life=counters.incarnation,
        stored_bytes=counters.stored_bytes,
    )
    if seen.counters == before.counters:
        return seen
    return replace(seen, moved=True)


def _gone(address: AddressState) -> AddressState:
    """Return the state of an address, or of an epoch of one, that reports no counters any more."""
    return replace(address, present=False, fresh=_REPEATS) if address.present else address


def _out(before: AddressState, counters: AddressCounters) -> int:
    """Return the messages out since the epoch began: for a topic the growth of its queues."""
    if before.type != _TOPIC:
        return counters.messages_out
    grown = 0
    for queue, now in counters.queues_out.items():
        last = before.queues_out.get(queue, 0)
        # A lower value means that the queue was deleted and created again.
        grown += now - last if now >= last else now
    return before.counters[MESSAGES_OUT] + grown


def _is_next_epoch(old: AddressState, counters: AddressCounters) -> bool:
    # A topic's messages out are already robust against counter resets (``_out``).
    is_reset = counters.messages_in < old.counters[MESSAGES_IN] or (
        old.type != _TOPIC and counters.messages_out < old.counters[MESSAGES_OUT]
    )
    is_recreated = "" not in (old.life, counters.incarnation) and old.life != counters.incarnation
    return is_reset or is_recreated or not old.present


def _used(state: SourceState, seen: Mapping[str, AddressState]) -> tuple[int, int]:
    used_in = used_out = 0
    for name, address in seen.items():
        old = state.addresses.get(name)
        # A new epoch counts from zero.
        before = old.counters if old and old.epoch == address.epoch else NOTHING
        used_in += address.counters[MESSAGES_IN] - before[MESSAGES_IN]
        used_out += address.counters[MESSAGES_OUT] - before[MESSAGES_OUT]
    return used_in, used_out


def _address_row(heartbeat: SampleRow, name: str, address: AddressState) -> SampleRow:
    return replace(
        heartbeat,
        address=name,
        address_type=address.type,
        epoch=address.epoch,
        counters=address.counters,
    )


def _elapsed_ms(before: datetime | None, now: datetime) -> int:
    if before is None:
        return 0
    step = min(max(now - before, timedelta(0)), LONGEST_STEP)
    return step // timedelta(milliseconds=1)


def _name(reading: Reading, instance: str) -> str:
    return f"{reading.space_id}/{instance}"


def _fresh(reading: Reading, instance: str, boot_id: str) -> SourceState:
    return SourceState(reading.tenant_id, reading.space_id, _name(reading, instance), boot_id)
