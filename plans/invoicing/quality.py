"""Describes in sentences what the samples of a period cannot show. Pure.

The result becomes part of the invoice document.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from plans.invoicing.evidence import CrashGap, Evidence
from plans.invoicing.post_issue_usage import Late

# The sentences below are stored in invoice documents.
COMPLETE = "Complete: every sample of this period arrived and is counted."


def describe(
    evidence: Evidence, space_names: Mapping[str, str], late: Sequence[Late] = ()
) -> dict[str, Any]:
    """Return {flagged, text, crash_gaps, covered_holes, late} for the document and the page.

    ``flagged`` is true if usage is unknown or has changed:

    * A crash hides what an instance carried after its last sample; that is never billed. The text
      gives the length of each such gap.
    * Usage of an issued invoice changed since (``late``).
    """
    covered = [gap for gap in evidence.holes if not gap.at_end]
    sentences = [_gap(gap, space_names) for gap in _ordered(evidence)] + _longest(evidence)
    if covered:
        lost = sum(gap.last_seq - gap.first_seq + 1 for gap in covered)
        sentences.append(
            f"{lost} {'sample was' if lost == 1 else 'samples were'} lost on the way; later ones "
            "carry the same counters, so no usage is missing."
        )
    return {
        "flagged": bool(evidence.crash_gaps or late),
        "text": " ".join([*(sentences or [COMPLETE]), *map(_late, late)]),
        "crash_gaps": [_as_document(gap) for gap in _ordered(evidence)],
        "covered_holes": len(covered),
        "late": [asdict(change) for change in late],
    }


def _late(late: Late) -> str:
    effect = (
        "Its month is priced again: correction lines here say what that changes, if anything."
        if late.corrected
        else "No line of this invoice depends on it."
    )
    return (
        f"Usage of {late.number} changed after it was issued: {late.meter} of {late.space} are now "
        f"{late.now:,}, billed were {late.billed:,}. {effect}"
    )


def _ordered(evidence: Evidence) -> list[CrashGap]:
    return sorted(evidence.crash_gaps, key=lambda gap: (gap.last_sample_at, gap.source))


def _gap(gap: CrashGap, space_names: Mapping[str, str]) -> str:
    # A source is "<space id>/<instance>"; the invoice shows the name of the space.
    space_id, _, instance = gap.source.partition("/")
    seconds = _seconds(gap)
    until = "from then on (it was not seen again)"
    if seconds is not None:
        until = f"from then until its next sample, {seconds:,} {_noun(seconds)} later,"
    return (
        f"{instance} of {space_names.get(space_id, space_id)} stopped without warning after its "
        f"sample of {gap.last_sample_at:%Y-%m-%d %H:%M:%S} UTC: what it carried {until} was "
        "not seen and is not billed."
    )


def _longest(evidence: Evidence) -> list[str]:
    # The length of a single gap is in its own sentence.
    known = [s for s in map(_seconds, evidence.crash_gaps) if s is not None]
    if len(known) < 2:
        return []
    return [f"The longest of these gaps is {max(known):,} {_noun(max(known))}."]


def _seconds(gap: CrashGap) -> int | None:
    """Return the length of a gap in seconds, rounded up; None if its end is not known."""
    if gap.next_sample_at is None:
        return None
    return math.ceil((gap.next_sample_at - gap.last_sample_at).total_seconds())


def _noun(seconds: int) -> str:
    return "second" if seconds == 1 else "seconds"


def _as_document(gap: CrashGap) -> dict[str, str | None]:
    return {
        "source": gap.source,
        "boot_id": gap.boot_id,
        "last_sample_at": gap.last_sample_at.isoformat(),
        "next_sample_at": gap.next_sample_at.isoformat() if gap.next_sample_at else None,
    }
