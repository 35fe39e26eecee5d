"""What the close gate is shown: what the lakehouse knows of one tenant and period.

``workers.metering.closing`` builds an ``Evidence`` and hands it to ``plans.invoicing.close``; the
gate judges it. Plain frozen values, no database, no Delta.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple


class UsageKey(NamedTuple):
    """One summed usage figure of a period; ``address`` is empty for meters of the space."""

    space_id: str
    address: str
    meter: str


@dataclass(frozen=True)
class TablePin:
    """One Delta table at one version: what time travel needs to read the same rows again."""

    table_id: str
    version: int


@dataclass(frozen=True)
class Hole:
    """Sequence numbers ``first_seq..last_seq`` of one life that never arrived.

    ``at_end`` is True when no later sample of that life in the period carries their counters: at
    the end of the life or of the period. Only such a hole can hide usage, so only it holds.
    """

    source: str
    boot_id: str
    first_seq: int
    last_seq: int
    at_end: bool


@dataclass(frozen=True)
class Fall:
    """A counter that fell inside a life: quarantined, never billed, and it holds the invoice."""

    source: str
    boot_id: str
    address: str
    counter: str
    before: int
    after: int


@dataclass(frozen=True)
class CrashGap:
    """A life that ended without a last sample: what came after ``last_sample_at`` is not billed.

    ``next_sample_at`` is the first sample of the source's next life, None when there was none.
    """

    source: str
    boot_id: str
    last_sample_at: datetime
    next_sample_at: datetime | None


@dataclass(frozen=True)
class Evidence:
    """All that the gate judges and the manifest pins, for one tenant and one period.

    ``as_of``: every sample taken before this instant is in the tables. ``gold`` and
    ``recomputed`` (from bronze, by another method) hold every non-zero figure of the period:
    sums, and maxima for ``peak_connections``. ``sample_hash`` does not depend on the order of
    samples. ``sampled_spaces``: ids of spaces with at least one sample in the period.
    """

    as_of: datetime
    tables: Mapping[str, TablePin]
    sample_hash: str
    n_samples: int
    gold: Mapping[UsageKey, int]
    recomputed: Mapping[UsageKey, int]
    sampled_spaces: frozenset[str]
    pipeline_version: str
    holes: tuple[Hole, ...] = field(default=())
    falls: tuple[Fall, ...] = field(default=())
    crash_gaps: tuple[CrashGap, ...] = field(default=())
