"""Finds usage that changed after its invoice was issued; the next invoice reports it once.

The change in price is in that invoice's correction lines (``corrections``).
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from plans.invoicing import document, states
from plans.invoicing.document import Document
from plans.models import Invoice
from plans.rating.periods import Period
from plans.usage import reading


@dataclass(frozen=True)
class Late:
    """A figure of an issued invoice that differs from the copy of gold now, in base units.

    ``billed`` is the last reported value; ``corrected``: this invoice prices its month again.
    """

    number: str
    space_id: str
    space: str
    meter: str
    billed: int
    now: int
    corrected: bool


def find(
    known: Sequence[tuple[Invoice, Document]], before: datetime, corrected: Collection[Period]
) -> list[Late]:
    """Return the changes of the issued invoices in ``known`` that end at ``before`` or earlier.

    Compares the copied usage of the same period with the document's sums per space and meter, or
    with what a later invoice reported instead. ``corrected`` are the months that are priced again.
    """
    # In order of time: ``_changes`` keeps the last reported value.
    in_time = sorted((made for _, made in known), key=lambda made: made["as_of"])
    reported = [late for made in in_time for late in made["quality"].get("late", [])]
    return [
        late
        for invoice, made in known
        if invoice.state in states.NUMBERED and invoice.ends_at <= before
        for late in _changes(invoice, made, reported, document.month_of(made) in corrected)
    ]


def _changes(
    invoice: Invoice, made: Document, reported: Sequence[Document], corrected: bool
) -> Iterator[Late]:
    billed = {(row["space_id"], m): n for row in made["usage"] for m, n in row["meters"].items()}
    for late in reported:
        if late["number"] == invoice.number:
            billed[late["space_id"], late["meter"]] = late["now"]
    names = {row["space_id"]: row["space"] for row in made["usage"]}
    figures = reading.by_space(invoice.tenant_id, invoice.starts_at, invoice.ends_at)
    now = {(figure.space_id, figure.meter): figure.quantity for figure in figures}
    for key in sorted({*billed, *now}):
        one, other = billed.get(key, 0), now.get(key, 0)
        if one != other:
            space_id, meter = key
            name = names.get(space_id, space_id)
            yield Late(invoice.number or "", space_id, name, meter, one, other, corrected)
