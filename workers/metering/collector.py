"""Turn cumulative snapshots into states and rows of bronze: the pure core of metering.

* ``advance`` takes the stored states of one space's sources and the snapshots of one sampling
  cycle. It returns the next states and the rows that must be landed now.
* ``land`` turns one source's state into rows.
* ``end`` turns the state of an incarnation that is over into its last rows.

``sampling``, ``landing`` and ``last_samples`` call these. The module uses no clock, database or
network.

Inside one incarnation every counter only grows. ``boot_id`` names the incarnation of the process.
``epoch`` counts how often an address began again within it: after a counter reset, after the
address was missing, or after its broker created it again. Gauges become running integrals: each
sample adds the value of the previous sample times the time since then, at most ``LONGEST_STEP``.

The end of a bucket or of an incarnation lands a whole snapshot: every address that ever counted
something, idle ones too. So the file of any other landing may be lost without a change of usage.
The rules are in docs/lakehouse.md, "How usage comes about" and "What counts".
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from plans.usage.meters import (
    CONNECTION_MS,
    PEAK_CONNECTIONS,
    STORED_BYTE_MS,
)
from workers.messaging.observed import AddressCounters, InstanceSnapshot
from workers.metering.buckets import Clock
from workers.metering.counters import ADDRESS_METERS, SOURCE_METERS, Counters
from workers.metering.source_states import (
    SPACE,
    AddressState,
    SampleRow,
    SourceState,
)

# In a longer silence the value of a gauge is unknown, so the time beyond this is not billed.
LONGEST_STEP = timedelta(minutes=2)
# Meters that are computed here. Snapshots report the counters of all others.
_COMPUTED = {STORED_BYTE_MS, CONNECTION_MS, PEAK_CONNECTIONS}


@dataclass(frozen=True)
class Reading:
    """What one sampling cycle read from one space. It is no reading of docs/glossary.md.

    * ``taken_at``: when the last snapshot arrived.
    * ``instances``: snapshots by instance name. An instance that did not answer has no entry.
    * ``types``: the type of each address.
    """

    tenant_id: str
    space_id: str
    taken_at: datetime
    instances: Mapping[str, InstanceSnapshot]
    types: Mapping[str, str]


@dataclass(frozen=True)
class Advance:
    """The next states, including those of ended incarnations, and the rows to land with them.

    Store both in one transaction, because the states count the ``seq`` that the rows have.
    """

    states: tuple[SourceState, ...]
    rows: tuple[SampleRow, ...]


def advance(
    states: Iterable[SourceState],
    reading: Reading,
    *,
    cut_at: datetime | None = None,
    begins_at: datetime | None = None,
) -> Advance:
    """Return the states after one cycle, and the rows that must be landed at once.

    * ``states``: those that ``sources.load_spaces`` returns of the space.
    * ``reading``: what the cycle has read.
    * ``cut_at``: the running bucket ends there. This cycle still belongs to the bucket that ends,
      all later ones to the bucket that begins.
    * ``begins_at``: the earliest begin of the first bucket of a space that was never sampled.
    """
    return _Cycle(reading, states, cut_at, begins_at).run()


def land(state: SourceState, *, is_end: bool = False) -> Advance:
    """Return the state with the next ``seq`` and its rows: a heartbeat, and the changed addresses.

    At the end of a bucket or of an incarnation (``is_end``) the rows are a whole snapshot: the
    heartbeat, every address that ever counted something, and those that disappeared or began again
    recently. A source that was never sampled has nothing to land.
    """
    if state.sampled_at is None or state.bucket_at is None:
        return Advance((state,), ())
    known = [*state.addresses.items(), *state.retired]
    due = [(name, address) for name, address in known if address.is_due(is_end=is_end)]
    retired = [(name, address.landed(is_end=is_end)) for name, address in state.retired]
    landed = replace(
        state,
        seq=state.seq + 1,
        unlanded=False,
        unclosed=state.unclosed and not is_end,
        addresses={n: address.landed(is_end=is_end) for n, address in state.addresses.items()},
        # An epoch that was landed often enough is forgotten.
        retired=tuple((n, address) for n, address in retired if address.fresh),
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
    rows = [
        replace(
            heartbeat,
            address=name,
            address_type=address.type,
            epoch=address.epoch,
            counters=address.counters,
        )
        for name, address in due
    ]
    return Advance((landed,), (heartbeat, *sorted(rows, key=lambda row: (row.address, row.epoch))))


def end(state: SourceState) -> Advance:
    """Return the ended state of an incarnation, and its last rows: a whole snapshot.

    There are no rows if nothing was sampled since the last whole snapshot.
    """
    rows: list[SampleRow] = []
    last = replace(_closed(state, rows), ended=True, connections=0)
    return Advance((last,), tuple(rows))


class _Cycle:
    """Computes one sampling cycle of one space; collects the next states and the rows to land."""

    def __init__(
        self,
        reading: Reading,
        states: Iterable[SourceState],
        cut_at: datetime | None,
        begins_at: datetime | None,
    ) -> None:
        self._reading = reading
        self._known = {state.source: state for state in states}
        space = self._known.pop(self._name(SPACE), None)
        self._space = space or self._begin(SPACE, SPACE)
        self._clock = Clock(reading.taken_at, self._space.bucket_at or begins_at, cut_at)
        self._done: list[SourceState] = []
        self._rows: list[SampleRow] = []

    def run(self) -> Advance:
        for instance, snapshot in sorted(self._reading.instances.items()):
            previous = self._known.pop(self._name(instance), None)
            if previous is not None and previous.boot_id != snapshot.boot_id:
                # The instance restarted: its previous incarnation ended with what was seen last.
                self._collect(end(previous))
                previous = None
            self._step(previous or self._begin(instance, snapshot.boot_id), snapshot)
        if self._reading.instances:  # otherwise the number of connections is unknown, not zero
            self._step(self._space, None)
        else:
            self._done.append(self._space)
        # Sources left in ``_known`` did not answer; they keep their state.
        return Advance((*self._done, *self._known.values()), tuple(self._rows))

    def _name(self, instance: str) -> str:
        return f"{self._reading.space_id}/{instance}"

    def _begin(self, instance: str, boot_id: str) -> SourceState:
        reading = self._reading
        return SourceState(reading.tenant_id, reading.space_id, self._name(instance), boot_id)

    def _collect(self, step: Advance) -> None:
        self._done.extend(step.states)
        self._rows.extend(step.rows)

    def _step(self, state: SourceState, snapshot: InstanceSnapshot | None) -> None:
        """Put the sample of one source into its bucket, and close the buckets that have ended.

        ``snapshot`` is None for the space's own source.
        """
        before = state.bucket_at or self._clock.regular
        bucket_at = self._clock.bucket_of_sample(before)
        if before < bucket_at:  # the sample is too late for the old bucket
            state = _closed(state, self._rows)
        if state.bucket_at != bucket_at:
            state = state.in_bucket(bucket_at)
        if snapshot is None:
            state = self._observe_space(state).compared(state)
        else:
            state = self._observe(state, snapshot).compared(state)
        if bucket_at < self._clock.current:  # the sample was the last one of its bucket
            state = _closed(state, self._rows).in_bucket(self._clock.current)
        self._done.append(state)

    def _observe_space(self, state: SourceState) -> SourceState:
        snapshots = self._reading.instances.values()
        connections = sum(len(snapshot.connections) for snapshot in snapshots)
        peak = max(state.counters[PEAK_CONNECTIONS], connections)
        return replace(
            state,
            sampled_at=self._reading.taken_at,
            counters=state.counters.having(peak_connections=peak),
            unlanded=True,
            unclosed=True,
        )

    def _observe(self, state: SourceState, snapshot: InstanceSnapshot) -> SourceState:
        elapsed_ms = self._elapsed_ms(state.sampled_at)
        seen = {c.address: self._observe_address(state, c, elapsed_ms) for c in snapshot.addresses}
        olds = state.addresses.items()
        gone = {n: old.gone() for n, old in olds if n not in seen and old.has_counted}
        # Old epochs of addresses that began again.
        over = tuple((n, a.gone()) for n, a in olds if n in seen and seen[n].epoch != a.epoch)
        # Each value may be too low while a login is in progress, and is never too high. So the
        # maximum is right.
        grown = {name: max(state.counters[name], n) for name, n in snapshot.by_meter.items()}
        return replace(
            state,
            sampled_at=self._reading.taken_at,
            unlanded=True,
            unclosed=True,
            addresses={**gone, **seen},
            retired=(*state.retired, *over),
            connections=len(snapshot.connections),
            health=snapshot.health.as_json(),
            counters=state.counters.having(
                **grown,
                # The previous number of connections counts until now.
                connection_ms=state.counters[CONNECTION_MS] + state.connections * elapsed_ms,
            ),
            used=state.used_with(seen),
        )

    def _observe_address(
        self, state: SourceState, shown: AddressCounters, elapsed_ms: int
    ) -> AddressState:
        old = state.addresses.get(shown.address)
        known = self._reading.types.get(shown.address) or shown.type
        kind = known or (old.type if old else "")
        is_new = old is None or old.is_over(shown)
        before = AddressState(kind) if old is None or is_new else old
        seen = replace(
            before,
            type=kind,
            epoch=0 if old is None else old.epoch + is_new,
            present=True,
            counters=Counters(
                {
                    **before.counted_now(shown),
                    STORED_BYTE_MS: before.counters[STORED_BYTE_MS]
                    + before.stored_bytes * elapsed_ms,
                }
            ),
            queues_out=dict(shown.queues_out),
            sizes_out=before.sizes_out_with(shown),
            life=shown.incarnation,
            stored_bytes=shown.stored_bytes,
        )
        return seen if seen.counters == before.counters else replace(seen, moved=True)

    def _elapsed_ms(self, before: datetime | None) -> int:
        if before is None:
            return 0
        # Never negative: the clock may have been set back.
        step = min(max(self._reading.taken_at - before, timedelta(0)), LONGEST_STEP)
        return step // timedelta(milliseconds=1)


def _closed(state: SourceState, rows: list[SampleRow]) -> SourceState:
    """Append the rows of a whole snapshot of ``state`` to ``rows``; return the next state.

    Without a sample since the last whole snapshot nothing is appended, and ``state`` is returned.
    """
    if not state.unclosed:
        return state
    landed = land(state, is_end=True)
    rows.extend(landed.rows)
    return landed.states[0]


def check_every_meter_is_counted() -> None:
    """Check that every sampled meter is counted somewhere; it runs when the module is imported.

    Otherwise the meter would be billed as zero.

    Raises:
        RuntimeError: the message names the meters that are not counted.
    """
    reported = AddressCounters("", 0, 0).by_meter.keys()
    of_instances = InstanceSnapshot("", (), (), 0).by_meter.keys()
    missing = {*ADDRESS_METERS} - reported | {*SOURCE_METERS} - of_instances
    if missing := missing - _COMPUTED:
        raise RuntimeError(f"no counters of these meters are taken: {sorted(missing)}")


check_every_meter_is_counted()
