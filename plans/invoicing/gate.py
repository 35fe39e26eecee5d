"""The close gate: is the usage of a period beyond doubt? Pure.

Each failing test gives one reason with words that name what to mend; an empty answer opens the
gate (design of billing, section 3).
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
    """Why an invoice is held: a stable slug and words for the one who can mend it."""

    code: str
    message: str

    def as_row(self) -> dict[str, str]:
        return asdict(self)


@dataclass(frozen=True)
class Question:
    """What the gate is asked: ``copied`` is the usage as Django holds it, to be billed."""

    facts: Facts
    evidence: Evidence
    copied: Mapping[UsageKey, int]
    sample_interval: timedelta


def judge(question: Question) -> list[Reason]:
    """Return every reason to hold the invoice, most actionable first; empty when it may close."""
    return [
        *_missing_details(question.facts),
        *_incomplete(question),
        *_holes(question.evidence),
        *_falls(question.evidence),
        *_silent_spaces(question),
        *_differences(question),
    ]


def earlier_open(ends_at: datetime) -> Reason:
    """Return the reason to hold an invoice whose month's earlier one is not closed yet."""
    return Reason(
        "invoice.earlier_open",
        f"The invoice of this month that ends at {ends_at.isoformat()} is not closed, and this "
        "one goes on with its included amounts and tiers: close that one, then close this again.",
    )


def _missing_details(facts: Facts) -> Iterator[Reason]:
    missing = [words for field, words in _DETAILS.items() if not facts.buyer[field].strip()]
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
            f"Usage is only complete up to {as_of.isoformat()}, the period ends at "
            f"{ends_at.isoformat()}: run the pipeline, then close again.",
        )


def _holes(evidence: Evidence) -> Iterator[Reason]:
    for hole in evidence.holes:
        if hole.at_end:
            yield Reason(
                "samples.hole_at_end",
                f"Samples {hole.first_seq} to {hole.last_seq} of {hole.source} (life "
                f"{hole.boot_id}) never arrived and no later one carries their counters: land the "
                "missing batch, run the pipeline, then close again.",
            )


def _falls(evidence: Evidence) -> Iterator[Reason]:
    for fall in evidence.falls:
        yield Reason(
            "samples.fall",
            f"Counter {fall.counter} of {fall.address or fall.source} fell from {fall.before} to "
            f"{fall.after} inside life {fall.boot_id} of {fall.source}: look at its quarantined "
            "rows, mend the source, then close again.",
        )


def _silent_spaces(question: Question) -> Iterator[Reason]:
    for space in question.facts.spaces:
        alive = space.alive
        if alive is None or space.id in question.evidence.sampled_spaces:
            continue
        if alive.ends_at - alive.starts_at >= 2 * question.sample_interval:
            yield Reason(
                "samples.none",
                f"Space {space.name} was active from {alive.starts_at.isoformat()} and has no "
                "sample in the period: look at its collector, then close again.",
            )


def _differences(question: Question) -> Iterator[Reason]:
    evidence = question.evidence
    found = _unequal(evidence.gold, evidence.recomputed)
    if found:
        yield Reason(
            "usage.recompute_differs",
            f"Usage differs from its independent recompute: {_shown(found)}. Rebuild the tables "
            "from bronze, then close again.",
        )
    found = _unequal(question.copied, evidence.gold)
    if found:
        yield Reason(
            "usage.copy_differs",
            f"The copied usage differs from gold: {_shown(found)}. Copy gold again, then close.",
        )


def _unequal(
    left: Mapping[UsageKey, int], right: Mapping[UsageKey, int]
) -> list[tuple[UsageKey, int, int]]:
    keys = sorted({*left, *right})
    pairs = ((key, left.get(key, 0), right.get(key, 0)) for key in keys)
    return [(key, one, other) for key, one, other in pairs if one != other]


def _shown(found: list[tuple[UsageKey, int, int]]) -> str:
    words = [
        f"{key.meter} of {key.address or key.space_id} is {one} against {other}"
        for key, one, other in found[:_SHOWN]
    ]
    more = len(found) - len(words)
    return "; ".join(words) + (f"; and {more} more" if more else "")


def _listed(words: Iterable[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last
