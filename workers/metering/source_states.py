"""The states of sources and addresses between cycles, and the rows of bronze: immutable values.

A source is one instance of a space, or the space itself for sums over its instances. ``collector``
computes states and rows. ``sources`` stores the states in the database as JSON, so the names of
their fields are persistent. ``bronze`` encodes the rows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any, Self

from controlplane.core import address_types
from controlplane.core.address_types import BrokerForm
from plans.usage.meters import (
    MESSAGES_IN,
    MESSAGES_OUT,
    METERS,
    PEAK_CONNECTIONS,
    STORED_BYTE_MS,
)
from workers.messaging.observed import NO_SIZES, SIZES_IN, SIZES_OUT, AddressCounters, Sizes
from workers.metering.counters import ADDRESS_METERS, NOTHING, Counters

BUCKET = timedelta(minutes=15)
_REPEATS = 2  # an address that is gone is landed again at this many ends of buckets
_SIZES = frozenset((*SIZES_IN, *SIZES_OUT))
# The meters of the first version, which wrote all of them. A later one is left out while it is 0.
_ALWAYS_STORED = frozenset((MESSAGES_IN, MESSAGES_OUT, STORED_BYTE_MS))
_MARKS_KEPT = 96  # a day of buckets: ``live`` is exact while the pipeline lags no further
SPACE = "space"  # instance name and boot_id of the source for the sums over all instances


@dataclass(frozen=True)
class SampleRow:
    """One row of bronze without its batch id: the counters of a source or an address at one moment.

    Counters are cumulative, except the peak, which is that of the bucket so far. A row with an
    empty ``address`` is a heartbeat: it has the counters of the source itself.
    """

    tenant_id: str
    space_id: str
    source: str
    boot_id: str
    seq: int
    taken_at: datetime
    bucket_at: datetime
    address: str = ""
    address_type: str = ""
    epoch: int = 0
    counters: Counters = NOTHING

    @classmethod
    def of_columns(cls, columns: Mapping[str, Any]) -> Self:
        """Return the row with the values in ``columns``; the reverse of the property ``columns``.

        A meter that is missing there is zero.
        """
        rest = {name: value for name, value in columns.items() if name not in METERS}
        # The outbox may hold rows of an older version, which did not have every meter.
        return cls(**rest, counters=Counters({m: columns[m] for m in METERS if m in columns}))

    @property
    def columns(self) -> dict[str, Any]:
        """The values by column of bronze, without ``batch_id`` and the partition ``date``."""
        return {**{name: getattr(self, name) for name in _ROW_FIELDS}, **self.counters}

    @property
    def date(self) -> date:
        """The partition of the bronze table: the UTC date of the bucket."""
        return self.bucket_at.astimezone(UTC).date()


@dataclass(frozen=True)
class AddressState:
    """The state of one epoch of one address on one source, as seen in the last snapshot.

    * ``counters``: those of ``ADDRESS_METERS``; the others are zero.
    * ``moved``: a counter changed since the address was last landed.
    * ``present``: the last snapshot had the address. If it ever counted something, every end of a
      bucket or incarnation lands it again.
    * ``fresh``: for an address that is gone, the number of such ends that still land it.
    * ``queues_out``: the last value of each subscriber's queue of a topic. Queues come and go, so a
      topic's messages out are the running sum of their growth.
    * ``life``: the broker's id of the queue or topic; empty on a router, which has none.
    * ``sizes_out``: the largest sizes seen of each subscriber's queue of a topic that is present.
    """

    type: str
    epoch: int = 0
    counters: Counters = NOTHING
    stored_bytes: int = 0
    moved: bool = False
    fresh: int = 0
    present: bool = True
    queues_out: Mapping[str, int] = field(default_factory=dict)
    life: str = ""
    sizes_out: Mapping[str, Sizes] = field(default_factory=dict)

    @property
    def _is_topic(self) -> bool:
        row = address_types.BY_SLUG.get(self.type)  # the type of an address may be unknown: ""
        return row is not None and row.broker_form is BrokerForm.TOPIC

    @classmethod
    def of_stored(cls, values: Mapping[str, Any]) -> Self:
        """Return the state with the values in a dictionary that ``stored`` returned.

        A counter that is missing there is zero; any other field has its default.
        """
        counters = {meter: values[meter] for meter in ADDRESS_METERS if meter in values}
        rest = {name: value for name, value in values.items() if name not in ADDRESS_METERS}
        rest["sizes_out"] = {queue: Sizes(*row) for queue, row in rest.get("sizes_out", {}).items()}
        return cls(**rest, counters=Counters(counters))

    def stored(self) -> dict[str, Any]:
        """Return a dictionary for JSON, with the counters on the same level as the other fields."""
        # An older worker, which may still run, fails on a counter that it does not know.
        counters = {
            meter: self.counters[meter]
            for meter in ADDRESS_METERS
            if self.counters[meter] or meter in _ALWAYS_STORED
        }
        own = {name: getattr(self, name) for name in _OWN_FIELDS if name != "sizes_out"}
        sizes = {"sizes_out": dict(self.sizes_out)} if self.sizes_out else {}
        return {**own, **counters, **sizes}

    @property
    def has_counted(self) -> bool:
        """Whether the address counted something or began again, so that it may have been landed.

        The state of any other address is dropped when the address disappears: clients choose the
        names of filters, so states of unused filters must not pile up. If such an address comes
        back, it counts as new.
        """
        return self.epoch > 0 or any(self.counters.values())

    def is_due(self, *, is_end: bool) -> bool:
        """Return whether the address must be landed now.

        It must if a counter changed. With ``is_end`` (a whole snapshot) it also must if it ever
        counted something and is present, or has disappeared recently.
        """
        is_repeated = is_end and (self.present or self.fresh > 0)
        return self.moved or (is_repeated and any(self.counters.values()))

    def landed(self, *, is_end: bool) -> Self:
        """Return the state after the address was landed, in a whole snapshot if ``is_end``."""
        return replace(self, moved=False, fresh=max(0, self.fresh - is_end))

    def gone(self) -> Self:
        """Return the state after a snapshot without the address, or with a newer epoch of it.

        The next two ends of buckets still land such a state.
        """
        return replace(self, present=False, fresh=_REPEATS) if self.present else self

    def messages_out_now(self, shown: AddressCounters) -> int:
        """Return the messages out since the epoch began, as of the newest counters ``shown``.

        For a topic these are the former messages out plus the growth of its subscribers' queues.
        """
        if not self._is_topic:
            return shown.messages_out
        grown = 0
        for queue, now in shown.queues_out.items():
            last = self.queues_out.get(queue, 0)
            # A lower value means that the queue was deleted and created again.
            grown += now - last if now >= last else now
        return self.counters[MESSAGES_OUT] + grown

    def counted_now(self, shown: AddressCounters) -> dict[str, int]:
        """Return what the epoch has counted as of the newest counters ``shown``, by meter.

        Sizes never get smaller within an epoch: a broker that is about to stop may report none.
        """
        now = {**shown.by_meter, MESSAGES_OUT: self.messages_out_now(shown)}
        if self._is_topic:
            now |= zip(SIZES_OUT, self._sizes_out_now(shown), strict=True)
        return now | {meter: max(self.counters[meter], now[meter]) for meter in _SIZES}

    def _sizes_out_now(self, shown: AddressCounters) -> Sequence[int]:
        """Return the sizes out of a topic: the former ones plus the growth of its queues."""
        totals = [self.counters[meter] for meter in SIZES_OUT]
        for queue, sizes in shown.queue_sizes_out.items():
            last = self.sizes_out.get(queue, NO_SIZES)
            for n, (now, before) in enumerate(zip(sizes, last, strict=True)):
                totals[n] += max(0, now - before)
        return totals

    def sizes_out_with(self, shown: AddressCounters) -> Mapping[str, Sizes]:
        """Return the next ``sizes_out``: of the queues that are present, the largest seen."""
        return {
            queue: Sizes(*map(max, sizes, self.sizes_out.get(queue, NO_SIZES)))
            for queue, sizes in shown.queue_sizes_out.items()
            if any(sizes) or queue in self.sizes_out
        }

    def is_over(self, shown: AddressCounters) -> bool:
        """Return whether ``shown``, the newest counters, belong to a new epoch of the address.

        They do if a counter of messages (except a topic's messages out) decreased, if the broker's
        id of the address changed, or if the address was missing in the previous snapshot.
        """
        is_reset = any(
            now < self.counters[meter]
            for meter, now in shown.by_meter.items()
            # A topic's messages out, and sizes, are already robust against counter resets.
            if meter not in _SIZES and not (meter == MESSAGES_OUT and self._is_topic)
        )
        is_recreated = "" not in (self.life, shown.incarnation) and self.life != shown.incarnation
        return is_reset or is_recreated or not self.present


# The fields of ``SampleRow`` that are columns, and those of ``AddressState`` that are stored under
# their names. Found once, because a cycle handles thousands of rows and states.
_ROW_FIELDS = tuple(found.name for found in fields(SampleRow) if found.name != "counters")
_OWN_FIELDS = tuple(found.name for found in fields(AddressState) if found.name != "counters")

Retired = tuple[str, AddressState]  # the address's name, and the state of an ended epoch


@dataclass(frozen=True)
class Mark:
    """What an incarnation had counted in total, by meter, when a bucket began.

    ``live`` subtracts it from the newest totals, to get the usage since that bucket began. The peak
    is that of the bucket, known once the bucket has ended.
    """

    bucket_at: datetime
    totals: Counters = NOTHING


@dataclass(frozen=True)
class SourceState:
    """The state of one incarnation of one source. Key: (source, boot_id).

    * ``seq``: the number of the last landed set of rows.
    * ``sampled_at``, ``bucket_at``: the last sample and its bucket; None before the first one.
    * ``moved_at``: the last sample in which one of ``totals`` changed; None before the first one.
    * ``connections``: the open connections in the last sample.
    * ``health``: ``EngineHealth`` of the last sample as JSON, for operators' metrics.
    * ``counters``: those of ``SOURCE_METERS``; the others are zero.
    * ``used``: ``ADDRESS_METERS`` over all addresses and epochs of the incarnation.
    * ``unlanded``: the source was sampled since anything of it was landed.
    * ``unclosed``: the source was sampled since a whole snapshot of it was landed.
    * ``ended``: the incarnation is over.
    * ``retired``: epochs that ended recently and are still landed at each end of a bucket.
    * ``marks``: one for each of the last buckets, the oldest first.
    """

    tenant_id: str
    space_id: str
    source: str
    boot_id: str
    seq: int = 0
    sampled_at: datetime | None = None
    bucket_at: datetime | None = None
    connections: int = 0
    counters: Counters = NOTHING
    used: Counters = NOTHING
    unlanded: bool = False
    unclosed: bool = False
    ended: bool = False
    addresses: Mapping[str, AddressState] = field(default_factory=dict)
    retired: tuple[Retired, ...] = ()
    marks: tuple[Mark, ...] = ()
    health: Mapping[str, float] = field(default_factory=dict)
    moved_at: datetime | None = None

    @property
    def totals(self) -> Counters:
        """What the incarnation has counted, by meter: its addresses together, and itself."""
        return self.counters.having(**{meter: self.used[meter] for meter in ADDRESS_METERS})

    def in_bucket(self, bucket_at: datetime) -> Self:
        """Return the state in the new bucket ``bucket_at``, with a new mark and a peak of zero."""
        peak = self.counters[PEAK_CONNECTIONS]
        ended = [
            replace(mark, totals=mark.totals.having(peak_connections=peak))
            for mark in self.marks[-1:]
        ]
        # A peak is that of one bucket; all other counters run through the whole incarnation.
        counters = self.counters.having(peak_connections=0)
        begun = replace(self, bucket_at=bucket_at, counters=counters)
        marks = (*self.marks[:-1], *ended, Mark(bucket_at, begun.totals))[-_MARKS_KEPT:]
        return replace(begun, marks=marks)

    def compared(self, before: Self) -> Self:
        """Return this state after a sample, with a new ``moved_at`` if the totals changed.

        ``before`` is the state without the sample, in the same bucket.
        """
        return self if self.totals == before.totals else replace(self, moved_at=self.sampled_at)

    def used_with(self, seen: Mapping[str, AddressState]) -> Counters:
        """Return ``used`` plus what was counted between this state and ``seen``.

        ``seen`` has the next state of each address that the newest snapshot shows.
        """
        grown = dict.fromkeys(ADDRESS_METERS, 0)
        for name, address in seen.items():
            old = self.addresses.get(name)
            # A new epoch counts from zero.
            before = old.counters if old and old.epoch == address.epoch else NOTHING
            for meter in ADDRESS_METERS:
                grown[meter] += address.counters[meter] - before[meter]
        return self.used.having(**{meter: self.used[meter] + n for meter, n in grown.items()})


def floor_bucket(instant: datetime) -> datetime:
    """Return the start, in UTC, of the regular bucket that contains ``instant``."""
    whole = instant.astimezone(UTC)
    return whole.replace(minute=whole.minute // 15 * 15, second=0, microsecond=0)
