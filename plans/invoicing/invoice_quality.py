"""Describes on an invoice which usage is unknown, and which usage of issued invoices has changed.

Usage is unknown after a crash, until the next sample. The description becomes part of the invoice
document (docs/billing.md, rule 13). It has no amounts: ``corrections`` charges changed usage.
"""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from plans.invoicing import document, releases, states
from plans.invoicing.document import Document
from plans.invoicing.evidence import CrashGap, Evidence
from plans.invoicing.rated_period import Reader
from plans.invoicing.releases import Release
from plans.models import Invoice
from plans.rating.periods import Period

# The sentences below are stored in invoice documents: another text needs a new ENGINE_VERSION.
COMPLETE = "Complete: every sample of this period arrived and is counted."


@dataclass(frozen=True)
class Late:
    """A usage figure of an issued invoice that differs from today's copy of gold, in base units.

    ``number`` is the number of the issued invoice. ``billed`` is the quantity on the issued
    invoice, or the ``now`` that the last invoice reported for it. ``now`` is the copied quantity.
    ``corrected``: the invoice that is being closed prices the month again. Its document stores the
    fields by these names.
    """

    number: str
    space_id: str
    space: str
    meter: str
    billed: int
    now: int
    corrected: bool

    def sentence(self) -> str:
        """Return text that says what changed, and whether this month is priced again for it."""
        effect = (
            "Its month is priced again: correction lines here say what that changes, if anything."
            if self.corrected
            else "No line of this invoice depends on it."
        )
        return (
            f"Usage of {self.number} changed after it was issued: {self.meter} of {self.space} are "
            f"now {self.now:,}, billed were {self.billed:,}. {effect}"
        )


@dataclass(frozen=True)
class _Hidden:
    """A crash gap and its length in seconds, rounded up (None if it has no known end)."""

    gap: CrashGap
    seconds: int | None

    @classmethod
    def of(cls, evidence: Evidence) -> "list[_Hidden]":
        """Return the crash gaps of the evidence with their lengths, in order of time."""
        found = []
        # The source decides between equal times, so that the order is the same each time.
        for gap in sorted(evidence.crash_gaps, key=lambda gap: (gap.last_sample_at, gap.source)):
            seconds = None
            if gap.next_sample_at is not None:
                # Rounded up: the invoice never makes a gap look shorter than it was.
                seconds = math.ceil((gap.next_sample_at - gap.last_sample_at).total_seconds())
            found.append(cls(gap, seconds))
        return found

    def sentence(self, space_names: Mapping[str, str]) -> str:
        # A source is "<space id>/<instance>"; the invoice shows the name of the space.
        space_id, _, instance = self.gap.source.partition("/")
        until = "from then on (it was not seen again)"
        if self.seconds is not None:
            until = f"from then until its next sample, {in_seconds(self.seconds)} later,"
        return (
            f"{instance} of {space_names.get(space_id, space_id)} stopped without warning after "
            f"its sample of {self.gap.last_sample_at:%Y-%m-%d %H:%M:%S} UTC: what it carried "
            f"{until} was not seen and is not billed."
        )

    def as_document(self) -> dict[str, str | None]:
        gap = self.gap
        return {
            "source": gap.source,
            "boot_id": gap.boot_id,
            "last_sample_at": gap.last_sample_at.isoformat(),
            "next_sample_at": gap.next_sample_at.isoformat() if gap.next_sample_at else None,
        }


def in_seconds(seconds: int) -> str:
    """Return a number of seconds with its unit: ``1 second``, ``1,200 seconds``."""
    return f"{seconds:,} {'second' if seconds == 1 else 'seconds'}"


def describe(
    evidence: Evidence,
    space_names: Mapping[str, str],
    late: Sequence[Late] = (),
    released: Sequence[Release] = (),
) -> dict[str, Any]:
    """Return the values of ``quality`` in an invoice document. Pure.

    ``space_names`` are the names by space id, ``late`` the figures from ``changed_since_issue``.

    * ``flagged``: there is a crash gap, a changed figure or a release.
    * ``text``: sentences for people about all of the following, with the length of each crash gap.
    * ``crash_gaps``: what an instance carried in these gaps is unknown and never billed.
    * ``covered_holes``: the number of gaps that a later sample covers, so no usage is missing.
    * ``late``: the changed figures, as mappings.
    * ``released``: the reasons that staff released, as mappings; left out if there are none.
    """
    hidden = _Hidden.of(evidence)
    sentences = list(dict.fromkeys(release.sentence() for release in released))
    sentences += [gap.sentence(space_names) for gap in hidden]
    known = [gap.seconds for gap in hidden if gap.seconds is not None]
    if len(known) > 1:  # the length of a single gap is in its own sentence
        sentences.append(f"The longest of these gaps is {in_seconds(max(known))}.")
    covered = [gap for gap in evidence.gaps if not gap.at_end]
    if covered:
        lost = sum(gap.last_seq - gap.first_seq + 1 for gap in covered)
        sentences.append(
            f"{lost} {'sample was' if lost == 1 else 'samples were'} lost on the way; later ones "
            "carry the same counters, so no usage is missing."
        )
    return {
        "flagged": bool(hidden or late or released),
        "text": " ".join([*(sentences or [COMPLETE]), *(change.sentence() for change in late)]),
        "crash_gaps": [gap.as_document() for gap in hidden],
        "covered_holes": len(covered),
        "late": [asdict(change) for change in late],
        **releases.plain(released),
    }


def changed_since_issue(
    known: Sequence[tuple[Invoice, Document]],
    before: datetime,
    corrected: Collection[Period],
    read: Reader,
) -> list[Late]:
    """Return the changed usage figures of issued invoices that end at ``before`` or earlier.

    Compares today's copied usage of each invoice's period with the document's quantities per space
    and meter. A quantity that a later invoice has reported replaces the document's, so that each
    change is reported once. ``known`` are the approved and issued invoices from
    ``corrections.agreed``; of approved ones only the reported changes are read. ``corrected`` are
    the months that the invoice being closed prices again. ``read`` returns the tenant's usage.
    """
    # In order of time, so that the last reported value replaces earlier ones.
    in_time = sorted((made for _, made in known), key=lambda made: made["as_of"])
    reported = [late for made in in_time for late in made["quality"].get("late", [])]
    return [
        late
        for invoice, made in known
        if invoice.state in states.NUMBERED and invoice.ends_at <= before
        for late in _changes(invoice, made, reported, document.month_of(made) in corrected, read)
    ]


def _changes(
    invoice: Invoice,
    made: Document,
    reported: Sequence[Document],
    corrected: bool,
    read: Reader,
) -> Iterator[Late]:
    billed = {(row["space_id"], m): n for row in made["usage"] for m, n in row["meters"].items()}
    for late in reported:
        if late["number"] == invoice.number:
            billed[late["space_id"], late["meter"]] = late["now"]
    names = {row["space_id"]: row["space"] for row in made["usage"]}
    figures = read(Period(invoice.starts_at, invoice.ends_at))
    now = {(figure.space_id, figure.meter): figure.quantity for figure in figures}
    for key in sorted({*billed, *now}):
        one, other = billed.get(key, 0), now.get(key, 0)
        if one != other:
            space_id, meter = key
            name = names.get(space_id, space_id)
            yield Late(invoice.number or "", space_id, name, meter, one, other, corrected)
