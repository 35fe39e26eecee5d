"""Declares the evidence for a close: what is known about the usage of one tenant and period.

``workers.metering.closing`` builds an ``Evidence`` and passes it to ``invoice_closing.close``.
There ``close_validation`` checks it, ``document`` pins it, and ``invoice_quality`` describes its
gaps. The classes are plain frozen values: they read neither the database nor Delta tables.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from plans.rating.periods import Period


class UsageKey(NamedTuple):
    """The key of one usage figure of a period; ``address`` is empty for meters of the space."""

    space_id: str
    address: str
    meter: str


@dataclass(frozen=True)
class TablePin:
    """One version of a Delta table. Delta can read its rows again years later (time travel)."""

    table_id: str
    version: int


@dataclass(frozen=True)
class Gap:
    """Samples ``first_seq..last_seq`` of one incarnation that never arrived.

    ``at_end`` is True if no later sample of the incarnation arrived in the period, so that no
    sample includes the counts of the missing ones. Only such a gap can hide usage, so only such a
    gap holds the invoice.
    """

    source: str  # "<space id>/<instance>"
    boot_id: str  # identifies the incarnation
    first_seq: int
    last_seq: int
    at_end: bool


@dataclass(frozen=True)
class CounterReset:
    """A counter that decreased inside one incarnation, with both values.

    Any counter reset holds the invoice.
    """

    source: str
    boot_id: str
    address: str
    counter: str
    before: int
    after: int


@dataclass(frozen=True)
class CrashGap:
    """An incarnation that ended unexpectedly: its usage after ``last_sample_at`` is not billed.

    ``next_sample_at`` is the first sample of the source's next incarnation, None if there is none.
    """

    source: str
    boot_id: str
    last_sample_at: datetime
    next_sample_at: datetime | None


@dataclass(frozen=True)
class SampleSet:
    """The hash of the samples of a period, the version of that hash, and their number.

    ``doubled`` names samples that arrived with two different values.
    """

    hash_version: int
    hash: str
    n_samples: int
    doubled: tuple[str, ...] = ()


@dataclass(frozen=True)
class EarlierUsage:
    """The usage of an invoiced month, or of its earlier part, that a close may correct.

    ``gold`` and ``recomputed`` are as in ``Evidence``, for ``span``.
    """

    span: Period
    gold: Mapping[UsageKey, int]
    recomputed: Mapping[UsageKey, int]


@dataclass(frozen=True)
class Evidence:
    """What is known about the usage of one tenant in one period, as a close needs it.

    * ``as_of``: every sample of the tenant taken before this instant is in the tables.
    * ``tables``: the pinned version of each table, by the table's name.
    * ``gold`` (from the table ``gold.usage``) and ``recomputed`` (from bronze, by another method)
      contain every non-zero figure of the period: sums, and maxima of ``peak_connections``.
    * ``sample_hash``: a hash of the samples of the period, in whatever order they arrived.
      ``hash_version`` 1 covers their ids, 2 their values too (``workers.metering.sample_hash``).
    * ``n_samples``: the number of these samples.
    * ``doubled_samples``: names of samples that arrived with two different values.
    * ``earlier``: the usage of each month that the close may correct.
    * ``sampled_spaces``: ids of the spaces with at least one sample in the period.
    """

    as_of: datetime
    tables: Mapping[str, TablePin]
    sample_hash: str
    n_samples: int
    gold: Mapping[UsageKey, int]
    recomputed: Mapping[UsageKey, int]
    sampled_spaces: frozenset[str]
    pipeline_version: str
    gaps: tuple[Gap, ...] = field(default=())  # ``at_end`` or not
    counter_resets: tuple[CounterReset, ...] = field(default=())
    crash_gaps: tuple[CrashGap, ...] = field(default=())
    hash_version: int = field(default=1)
    doubled_samples: tuple[str, ...] = field(default=())
    earlier: tuple[EarlierUsage, ...] = field(default=())
