"""Reads of invoices for pages: one tenant's, or all for an operator. Constant query counts."""

from collections.abc import Sequence

from django.db.models import Count, Q, QuerySet

from controlplane.core.errors import Missing, WaypostError
from controlplane.core.models import Operation
from plans import invoicing
from plans.invoicing import Preview
from plans.models import Invoice, InvoiceEvent, Payment
from tenants.models import Tenant

VERIFY = "invoice.verify"
_HELD_FIRST = ["held", "closing", "draft", "approved", "overdue", "issued", "partly_paid", "paid"]


def of(tenant: Tenant) -> QuerySet[Invoice]:
    """Return a tenant's invoices, newest period first, without their documents."""
    return _light().filter(tenant=tenant).order_by("-starts_at")


def everyone(state: str = "") -> QuerySet[Invoice]:
    """Return all invoices, or those in ``state``: held ones first, then the newest period."""
    rows = _light().select_related("tenant").annotate(is_held=Q(state=Invoice.State.HELD))
    rows = rows.order_by("-is_held", "-starts_at", "tenant__name")
    return rows.filter(state=state) if state else rows


def counts() -> list[tuple[str, int]]:
    """Return how many invoices stand in each state, what needs a person first."""
    found = dict(Invoice.objects.values_list("state").annotate(count=Count("id")).order_by())
    known = [state for state in _HELD_FIRST if state in found]
    return [(state, found[state]) for state in [*known, *sorted(set(found) - set(known))]]


def get(tenant: Tenant | None, name: str) -> Invoice:
    """Return the invoice with this id or number; ``tenant`` None is an operator's question.

    Raises:
        Missing: there is none, or it is another tenant's.
    """
    rows = Invoice.objects.select_related("tenant").filter(Q(pk=name) | Q(number=name))
    row = (rows.filter(tenant=tenant) if tenant else rows).first()
    if row is None:
        raise Missing("There is no such invoice; the list shows those that there are.")
    return row


def running(tenant: Tenant) -> Preview | None:
    """Return the running period so far, or None when there is nothing to price it by."""
    try:
        return invoicing.preview(tenant)
    except WaypostError:
        return None


def events(row: Invoice) -> Sequence[InvoiceEvent]:
    """Return the invoice's history, oldest first."""
    return list(row.events.order_by("at", "id"))


def payments(row: Invoice) -> Sequence[Payment]:
    """Return what was paid, oldest first."""
    return list(row.payments.order_by("received_on", "id"))


def proof(row: Invoice) -> Operation | None:
    """Return the newest recomputation that somebody asked for."""
    asked = Operation.objects.filter(subject_id=row.id, kind=VERIFY)
    return asked.order_by("-created_at").first()


def _light() -> QuerySet[Invoice]:
    return Invoice.objects.defer("document", "manifest", "quality")
