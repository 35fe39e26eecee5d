"""Names the places that a verification compares, and what it found there. Plain values, no reads.

``comparisons.REGISTRY`` says how each place is compared.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from plans.invoicing.evidence import EarlierUsage, SampleSet, UsageKey
from plans.usage.reading import UsageCell

DIFFERS = "invoice.differs"


class Place(StrEnum):
    """A place where figures of an invoice stand. The values are shown by the API: never rename."""

    FILES = "files"
    SAMPLES = "samples"
    GOLD = "gold"
    COPY = "copy"
    PRICES = "prices"
    SUBSCRIPTIONS = "subscriptions"
    PREVIOUS = "previous invoice"
    DOCUMENT = "document"
    ROW = "row"
    LINES = "lines"
    LEDGER = "ledger"


@dataclass(frozen=True)
class Finding:
    """One difference at ``place``: ``code`` is a stable slug, ``what`` a text for people.

    The code is ``DIFFERS``, or that of the error that made the place unreadable.
    """

    place: Place
    code: str
    what: str

    def __str__(self) -> str:
        return f"{self.place}: {self.what}"


@dataclass(frozen=True)
class Outcome:
    """What one comparison found: texts of differences, and a note on what was compared."""

    differences: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class FileCheck:
    """The result of comparing whole files with the hashes that were recorded when they landed.

    * ``n_same``: number of files with the recorded hash.
    * ``altered``: paths of files with another one; ``missing``: paths of files that are gone.
    * ``n_without``: number of files without a recorded hash.
    """

    n_same: int = 0
    altered: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    n_without: int = 0


@dataclass(frozen=True)
class CopyReading:
    """The usage in the database, and gold at the version that was copied last.

    ``cells`` and ``gold`` have every cell of the tenant in the compared time. ``by_address`` and
    ``by_space`` are the sums of the database over the invoice's period.
    """

    cells: Sequence[UsageCell]
    gold: Sequence[UsageCell]
    by_address: Mapping[UsageKey, int]
    by_space: Mapping[UsageKey, int]


@dataclass(frozen=True)
class LakeReading:
    """What a worker read for a verification; ``unreadable`` says what it could not read, and why.

    A field that could not be read is None.

    * ``cells``: gold at the pinned version, from ``corrections.usage_since`` on.
    * ``samples``: the samples of the period in the pinned version of bronze.
    * ``spans``: of the period and of each corrected month, gold and the usage recomputed from
      bronze, at the pinned versions.
    * ``copy``: the copy of gold in the database; None before the first copy.
    * ``files``: None if the files were not to be checked.
    """

    cells: Sequence[UsageCell] | None = None
    samples: SampleSet | None = None
    spans: tuple[EarlierUsage, ...] | None = None
    copy: CopyReading | None = None
    files: FileCheck | None = None
    unreadable: tuple[Finding, ...] = field(default=())
