"""Usage that changed after its invoice was issued: found at each later close, said there.

An issued invoice never changes, and correction lines are not written yet; so the next invoice says
what the difference is.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from plans import usage
from plans.invoicing import document, states
from plans.models import Invoice

_LOOKED_AT = 12  # the newest issued invoices of the tenant


@dataclass(frozen=True)
class Late:
    """A figure of an issued invoice that is not what the copy of gold says now; base units."""

    number: str
    space_id: str
    space: str
    meter: str
    billed: int
    now: int


def find(tenant_id: str, before: datetime) -> list[Late]:
    """Return what changed of the tenant's newest issued invoices that end at ``before`` or earlier.

    Compares sums per space and meter of the document with the copied usage of the same period.
    """
    issued = Invoice.objects.filter(
        tenant_id=tenant_id, state__in=states.NUMBERED, ends_at__lte=before
    )
    newest = list(issued.order_by("-ends_at")[:_LOOKED_AT])
    return [late for invoice in reversed(newest) for late in _changes(invoice)]


def _changes(invoice: Invoice) -> Iterator[Late]:
    said = document.loaded(invoice.document)["usage"]
    billed = {(each["space_id"], m): n for each in said for m, n in each["meters"].items()}
    names = {each["space_id"]: each["space"] for each in said}
    figures = usage.by_space(invoice.tenant_id, invoice.starts_at, invoice.ends_at)
    now = {(figure.space_id, figure.meter): figure.quantity for figure in figures}
    for key in sorted({*billed, *now}):
        one, other = billed.get(key, 0), now.get(key, 0)
        if one != other:
            space_id, meter = key
            name = names.get(space_id, space_id)
            yield Late(invoice.number or "", space_id, name, meter, one, other)
