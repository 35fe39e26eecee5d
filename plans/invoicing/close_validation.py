"""Close validation: checks that the usage of a period is complete and consistent. Pure.

Each failed check gives a reason to hold the invoice; its message names what to fix. Without reasons
the invoice becomes a draft (design of billing, section 3).
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta

from plans.invoicing.evidence import Evidence, UsageKey
from plans.invoicing.facts import Facts

_DETAILS = {
    "name": "the billing name",
    "address": "the billing address",
    "country": "the billing country",
    "email": "the billing email address",
}
_SHOWN = 3  # differences named in one reason


@dataclass(frozen=True)
class Reason:
    """Why an invoice is held: a stable slug, and a message that says what to fix."""

    code: str  # stored in ``held_reasons`` and shown by the API: never rename a code
    message: str

    def as_row(self) -> dict[str, str]:
        return asdict(self)


@dataclass(frozen=True)
class Question:
    """The input of close validation. ``copied`` is the usage in PostgreSQL that would be billed."""

    facts: Facts
    evidence: Evidence
    copied: Mapping[UsageKey, int]
    sample_interval: timedelta


def judge(question: Question) -> list[Reason]:
    """Return all reasons to hold the invoice, the easiest to act on first; none if it may close."""
    return [
        *_missing_details(question.facts),
        *_incomplete(question),
        *_gaps(question.evidence),
        *_counter_resets(question.evidence),
        *_silent_spaces(question),
        *_differences(question),
    ]


def previous_open(ends_at: datetime) -> Reason:
    """Return the reason to hold an invoice because the previous one of its month is not closed."""
    return Reason(
        "invoice.earlier_open",
        f"The previous invoice of this month, which ends at {ends_at.isoformat()}, is not closed. "
        "This invoice continues its included amounts and tiers: close that one, then this again.",
    )


def _missing_details(facts: Facts) -> Iterator[Reason]:
    # A buyer's tax id is optional.
    missing = [name for field, name in _DETAILS.items() if not facts.buyer[field].strip()]
    if missing:
        yield Reason(
            "billing_details.missing",
            f"Fill in {_listed(missing)} of {facts.buyer['organisation']} under Billing details, "
            "then close again.",
        )


def _incomplete(question: Question) -> Iterator[Reason]:
    ends_at, as_of = question.facts.period.ends_at, question.evidence.as_of
    if as_of < ends_at:
        yield Reason(
            "usage.incomplete",
            f"Usage is only complete up to {as_of.isoformat()}, but the period ends at "
            f"{ends_at.isoformat()}: run the pipeline, then close again.",
        )


def _gaps(evidence: Evidence) -> Iterator[Reason]:
    for gap in evidence.holes:
        if gap.at_end:  # in any other gap, a later sample has the cumulative counters
            yield Reason(
                "samples.hole_at_end",
                f"Samples {gap.first_seq} to {gap.last_seq} of {gap.source} (incarnation "
                f"{gap.boot_id}) never arrived, and no later sample includes their counts: land "
                "the missing batch, run the pipeline, then close again.",
            )


def _counter_resets(evidence: Evidence) -> Iterator[Reason]:
    for reset in evidence.falls:
        yield Reason(
            "samples.fall",
            f"Counter {reset.counter} of {reset.address or reset.source} fell from {reset.before} "
            f"to {reset.after} inside incarnation {reset.boot_id} of {reset.source}: check its "
            "quarantined rows, fix the source, then close again.",
        )


def _silent_spaces(question: Question) -> Iterator[Reason]:
    for space in question.facts.spaces:
        alive = space.alive
        if alive is None or space.id in question.evidence.sampled_spaces:
            continue
        # A space that was active for less than two intervals may not have been sampled.
        if alive.ends_at - alive.starts_at >= 2 * question.sample_interval:
            yield Reason(
                "samples.none",
                f"Space {space.name} was active from {alive.starts_at.isoformat()} on but has no "
                "sample in the period: check its collector, then close again.",
            )


def _differences(question: Question) -> Iterator[Reason]:
    evidence = question.evidence
    found = _unequal(evidence.gold, evidence.recomputed)
    if found:
        yield Reason(
            "usage.recompute_differs",
            f"Usage differs from its independent recomputation: {_shown(found)}. Rebuild the "
            "tables from bronze, then close again.",
        )
    found = _unequal(question.copied, evidence.gold)
    if found:
        yield Reason(
            "usage.copy_differs",
            f"The copied usage differs from gold: {_shown(found)}. Copy gold again, then close "
            "again.",
        )


def _unequal(
    left: Mapping[UsageKey, int], right: Mapping[UsageKey, int]
) -> list[tuple[UsageKey, int, int]]:
    keys = sorted({*left, *right})
    pairs = ((key, left.get(key, 0), right.get(key, 0)) for key in keys)
    return [(key, one, other) for key, one, other in pairs if one != other]


def _shown(found: list[tuple[UsageKey, int, int]]) -> str:
    named = [
        f"{key.meter} of {key.address or key.space_id} is {one} against {other}"
        for key, one, other in found[:_SHOWN]
    ]
    more = len(found) - len(named)
    return "; ".join(named) + (f"; and {more} more" if more else "")


def _listed(names: Iterable[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
