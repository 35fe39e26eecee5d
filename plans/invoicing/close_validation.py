"""Validates a close: usage must be complete and consistent, and the buyer known. Pure.

Each failed check gives a reason to hold the invoice; its message names what to fix. Without reasons
the invoice becomes a draft (docs/billing.md, Why an invoice is held).
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta

from plans.invoicing.evidence import EarlierUsage, Evidence, UsageKey
from plans.invoicing.facts import Facts
from plans.rating.periods import Period

DETAILS_MISSING = "billing_details.missing"
_DETAILS = {
    "name": "the billing name",
    "address": "the billing address",
    "country": "the billing country",
    "email": "the billing email address",
}
_COPY_AGAIN = "Let an administrator copy gold again (python -m django copy_gold), then close again."
_SHOWN = 3  # differences named in one reason


@dataclass(frozen=True)
class Reason:
    """Why an invoice is held: ``code`` is a stable slug, ``message`` says what to fix."""

    code: str  # stored in ``held_reasons`` and shown by the API: never rename a code
    message: str

    def as_row(self) -> dict[str, str]:
        return asdict(self)


@dataclass(frozen=True)
class Differences:
    """The usage keys at which two sources disagree, with both values.

    The object is false if the sources agree. ``str`` names the first few differences.
    """

    found: tuple[tuple[UsageKey, int, int], ...]

    @classmethod
    def between(cls, left: Mapping[UsageKey, int], right: Mapping[UsageKey, int]) -> "Differences":
        """Compare two sources of usage; a key that one of them lacks counts as zero there."""
        keys = sorted({*left, *right})
        pairs = ((key, left.get(key, 0), right.get(key, 0)) for key in keys)
        return cls(tuple((key, one, other) for key, one, other in pairs if one != other))

    def __bool__(self) -> bool:
        return bool(self.found)

    def __str__(self) -> str:
        named = [
            f"{key.meter} of {key.address or key.space_id} is {one} against {other}"
            for key, one, other in self.found[:_SHOWN]
        ]
        more = len(self.found) - len(named)
        return "; ".join(named) + (f"; and {more} more" if more else "")


def lacking_details(buyer: Mapping[str, str]) -> str:
    """Return what to fill in before an invoice to ``buyer`` can be made; empty if nothing.

    ``buyer`` has the keys of an invoice document.
    """
    missing = [name for field, name in _DETAILS.items() if not buyer[field].strip()]
    if not missing:
        return ""
    *first, last = missing
    listed = f"{', '.join(first)} and {last}" if first else last
    return f"Fill in {listed} of {buyer['organisation']} under Billing details"


@dataclass(frozen=True)
class Question:
    """The input of close validation; each method is one check and yields the reasons to hold.

    ``copied`` is the period's usage in PostgreSQL, which the draft would bill. ``sample_interval``
    is the time between two landed samples of a source. ``unplanned`` are the times in which
    something was used while the tenant had no plan.
    """

    facts: Facts
    evidence: Evidence
    copied: Mapping[UsageKey, int]
    sample_interval: timedelta
    unplanned: tuple[Period, ...] = ()

    def without_plan(self) -> Iterator[Reason]:
        """Yield a reason for each time without a plan in which something was used."""
        for span in self.unplanned:
            yield Reason(
                "usage.without_plan",
                f"Something was used from {span.starts_at.isoformat()} to "
                f"{span.ends_at.isoformat()}, while the tenant had no plan, so no plan prices it. "
                "Plans of the past can only be corrected in the database, by an administrator. "
                "Then close again.",
            )

    def missing_details(self) -> Iterator[Reason]:
        """Yield one reason if the buyer's billing name, address, country or email is empty.

        A tax id is optional.
        """
        if words := lacking_details(self.facts.buyer):
            yield Reason(DETAILS_MISSING, f"{words}, then close again.")

    def incomplete(self) -> Iterator[Reason]:
        """Yield a reason if the evidence is complete only up to a time before the period ends."""
        ends_at, as_of = self.facts.period.ends_at, self.evidence.as_of
        if as_of < ends_at:
            yield Reason(
                "usage.incomplete",
                f"Usage is only complete up to {as_of.isoformat()}, but the period ends at "
                f"{ends_at.isoformat()}: run the pipeline, then close again.",
            )

    def gaps(self) -> Iterator[Reason]:
        """Yield a reason for each gap that no later sample of its incarnation covers."""
        for gap in self.evidence.gaps:
            if gap.at_end:  # in any other gap, a later sample has the cumulative counters
                yield Reason(
                    "samples.hole_at_end",
                    f"Samples {gap.first_seq} to {gap.last_seq} of {gap.source} (incarnation "
                    f"{gap.boot_id}) never arrived, and no later sample includes their counts: "
                    "if the page Pipeline shows batches under Waiting, the log of the metering "
                    "worker says what keeps them; once they have landed, close again. Otherwise "
                    "release the invoice with a reason.",
                )

    def counter_resets(self) -> Iterator[Reason]:
        """Yield a reason for each counter that was reset inside an incarnation."""
        for reset in self.evidence.counter_resets:
            yield Reason(
                "samples.fall",
                f"Counter {reset.counter} of {reset.address or reset.source} fell from "
                f"{reset.before} to {reset.after} inside incarnation {reset.boot_id} of "
                f"{reset.source}. The samples keep this reset, so closing again finds it again: "
                "look at the quarantined rows, fix the cause for later periods, then release the "
                "invoice with a reason.",
            )

    def doubled_samples(self) -> Iterator[Reason]:
        """Yield a reason if samples arrived with two different values."""
        doubled = self.evidence.doubled_samples
        if doubled:
            named = ", ".join(doubled[:_SHOWN])
            more = f" and {len(doubled) - _SHOWN} more" if len(doubled) > _SHOWN else ""
            yield Reason(
                "samples.two_values",
                f"Samples arrived with two different values: {named}{more}. One of each is wrong. "
                "To find the file that was changed, verify a draft or an issued invoice of the "
                "same month with --files; it may be of any tenant. Let an administrator restore "
                "the file from a backup, then close again.",
            )

    def silent_spaces(self) -> Iterator[Reason]:
        """Yield a reason for each space that was active in the period but has no sample.

        Spaces that were active for less than two sample intervals are excepted.
        """
        for space in self.facts.spaces:
            alive = space.alive
            if alive is None or space.id in self.evidence.sampled_spaces:
                continue
            # A space that was active for a shorter time may have had no sample.
            if alive.ends_at - alive.starts_at >= 2 * self.sample_interval:
                yield Reason(
                    "samples.none",
                    f"Space {space.name} was active from {alive.starts_at.isoformat()} on but has "
                    "no sample in the period: check its collector, then close again.",
                )

    def differences(self) -> Iterator[Reason]:
        """Yield a reason if gold differs from ``recomputed``, one if ``copied`` does from gold."""
        evidence = self.evidence
        found = Differences.between(evidence.gold, evidence.recomputed)
        if found:
            yield Reason(
                "usage.recompute_differs",
                f"Usage differs from its independent recomputation: {found}. Rebuild the "
                "tables from bronze, then close again.",
            )
        found = Differences.between(self.copied, evidence.gold)
        if found:
            yield Reason(
                "usage.copy_differs",
                f"The copied usage differs from gold: {found}. {_COPY_AGAIN}",
            )


def earlier_differences(
    usage: EarlierUsage, copied: Mapping[UsageKey, int], number: str
) -> Iterator[Reason]:
    """Yield the reasons why a correction of the month of invoice ``number`` may not be billed.

    ``copied`` is the usage of the same span in PostgreSQL, by which the correction is priced.
    """
    found = Differences.between(usage.gold, usage.recomputed)
    if found:
        yield Reason(
            "usage.recompute_differs",
            f"Usage of the month of {number}, which this invoice corrects, differs from its "
            f"independent recomputation: {found}. Rebuild the tables from bronze, then close "
            "again.",
        )
    found = Differences.between(copied, usage.gold)
    if found:
        yield Reason(
            "usage.copy_differs",
            f"The copied usage of the month of {number}, which this invoice corrects, differs from "
            f"gold: {found}. {_COPY_AGAIN}",
        )


def judge(question: Question) -> list[Reason]:
    """Return the reasons of all checks of ``question``, in the order of the checks.

    Empty if no check holds the invoice. The caller still has to check the month's previous invoice
    (``previous_open``).
    """
    return [
        *question.missing_details(),
        *question.incomplete(),
        *question.gaps(),
        *question.counter_resets(),
        *question.doubled_samples(),
        *question.silent_spaces(),
        *question.differences(),
        *question.without_plan(),
    ]


def previous_open(ends_at: datetime) -> Reason:
    """Return the reason to hold an invoice because the previous one of its month is not closed.

    ``ends_at`` is the end of the previous invoice's period.
    """
    return Reason(
        "invoice.earlier_open",
        f"The previous invoice of this month, which ends at {ends_at.isoformat()}, is not closed. "
        "This invoice continues its included amounts and tiers: close that one, then this again.",
    )
