"""Usage that changed after its invoice was issued: said in words on the next invoice, once.

What it changes in price is in that invoice's correction lines (``corrections``).
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from plans import usage
from plans.invoicing import document, states
from plans.invoicing.document import Document
from plans.models import Invoice
from plans.periods import Period


@dataclass(frozen=True)
class Late:
    """A figure of an issued invoice that is not what the copy of gold says now; base units.

    ``billed`` is what was last said of it; ``corrected`` whether its month is priced again here.
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
    """Return what changed of the issued invoices in ``known`` that end at ``before`` or earlier.

    Compares sums per space and meter of the document, and what later invoices said of them, with
    the copied usage of the same period. ``corrected`` are the months that are priced again.
    """
    in_time = sorted((made for _, made in known), key=lambda made: made["as_of"])
    said = [late for made in in_time for late in made["quality"].get("late", [])]
    return [
        late
        for invoice, made in known
        if invoice.state in states.NUMBERED and invoice.ends_at <= before
        for late in _changes(invoice, made, said, document.month_of(made) in corrected)
    ]


def _changes(
    invoice: Invoice, made: Document, said: Sequence[Document], corrected: bool
) -> Iterator[Late]:
    billed = {(each["space_id"], m): n for each in made["usage"] for m, n in each["meters"].items()}
    for each in said:
        if each["number"] == invoice.number:
            billed[each["space_id"], each["meter"]] = each["now"]
    names = {each["space_id"]: each["space"] for each in made["usage"]}
    figures = usage.by_space(invoice.tenant_id, invoice.starts_at, invoice.ends_at)
    now = {(figure.space_id, figure.meter): figure.quantity for figure in figures}
    for key in sorted({*billed, *now}):
        one, other = billed.get(key, 0), now.get(key, 0)
        if one != other:
            space_id, meter = key
            name = names.get(space_id, space_id)
            yield Late(invoice.number or "", space_id, name, meter, one, other, corrected)
