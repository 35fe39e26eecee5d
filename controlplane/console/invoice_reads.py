"""Queries of invoices, of one tenant or of all. Each takes a constant number of queries."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from django.db.models import Case, Count, Q, QuerySet, Sum, When

from controlplane.core.errors import Missing, WaypostError
from controlplane.core.models import Operation
from plans.invoicing import corrections, previewing, receiving
from plans.invoicing.previewing import Preview
from plans.models import CreditNote, Invoice, InvoiceEvent, Payment
from plans.rating import money
from tenants.models import Tenant

VERIFY = ("invoice.verify", "invoice.verify_files")
# The states that concern the tenant, in words.
_STEPS_SHOWN: Mapping[str, str] = {
    Invoice.State.ISSUED: "Issued",
    Invoice.State.PARTLY_PAID: "A part was paid",
    Invoice.State.PAID: "Paid",
    Invoice.State.OVERDUE: "The day by which to pay is over",
    Invoice.State.UNCOLLECTIBLE: "Written off",
    Invoice.State.VOIDED: "Voided",
}
# The order of states on the operator's page: those that an operator must act on come first. States
# that are not listed follow by name.
_HELD_FIRST = [
    Invoice.State.HELD,
    Invoice.State.CLOSING,
    Invoice.State.DRAFT,
    Invoice.State.APPROVED,
    Invoice.State.OVERDUE,
    Invoice.State.ISSUED,
    Invoice.State.PARTLY_PAID,
    Invoice.State.PAID,
]


def of(tenant: Tenant) -> QuerySet[Invoice]:
    """Return a tenant's invoices, newest period first. Large JSON columns are deferred.

    ``left_minor`` of a row is what is left to pay.
    """
    return _light().filter(tenant=tenant).order_by("-starts_at")


def everyone(state: str = "") -> QuerySet[Invoice]:
    """Return the invoices of all tenants, only those in ``state`` if it is given.

    Held ones come first; then the newest period first, and by the tenant's name. ``left_minor`` of
    a row is what is left to pay.
    """
    rows = _light().select_related("tenant").annotate(is_held=Q(state=Invoice.State.HELD))
    rows = rows.order_by("-is_held", "-starts_at", "tenant__name")
    return rows.filter(state=state) if state else rows


def counts() -> list[tuple[str, int]]:
    """Return (state, number of invoices of all tenants), in the order of ``_HELD_FIRST``."""
    return in_order(
        dict(Invoice.objects.values_list("state").annotate(count=Count("id")).order_by())
    )


def in_order(found: Mapping[str, int]) -> list[tuple[str, int]]:
    """Return the items of {state: number of invoices} in the order of ``_HELD_FIRST``."""
    known = [state for state in _HELD_FIRST if state in found]
    return [(state, found[state]) for state in [*known, *sorted(set(found) - set(known))]]


def get(tenant: Tenant | None, name: str) -> Invoice:
    """Return the invoice with this id or number.

    ``tenant`` None searches all tenants; only operator pages may do so.

    Raises:
        Missing: no invoice has this id or number, or it belongs to another tenant.
    """
    rows = Invoice.objects.select_related("tenant").filter(Q(pk=name) | Q(number=name))
    # The tenant is part of the query, so the number of another tenant's invoice finds nothing.
    row = (rows.filter(tenant=tenant) if tenant else rows).first()
    if row is None:
        raise Missing("There is no such invoice; see the list of invoices.")
    return row


def running(tenant: Tenant) -> Preview | None:
    """Return the priced current period of the tenant; None if it cannot be priced.

    It cannot be priced without a plan subscription, for example.
    """
    try:
        return previewing.preview(tenant)
    except WaypostError:  # such as no subscription: the page must show the other parts
        return None


def invoiced_minor(preview: Preview) -> int:
    """Return the totals with tax of the earlier invoices of the previewed month, in minor units.

    Drafts count: the preview begins after them. A closing or held invoice counts with what it comes
    to now. Voided invoices do not count.
    """
    month = preview.facts.month
    rows = Invoice.objects.exclude(state__in=[Invoice.State.VOIDED, *corrections.UNPRICED]).filter(
        tenant_id=preview.facts.tenant_id,
        starts_at__gte=month.starts_at,
        ends_at__lte=month.ends_at,
    )
    priced: int = rows.aggregate(total=Sum("total_minor"))["total"] or 0
    return priced + preview.estimated_minor


def events(row: Invoice) -> Sequence[InvoiceEvent]:
    """Return the events of an invoice's history, oldest first."""
    return list(row.events.order_by("at", "id"))


def tenant_history(row: Invoice) -> list[tuple[datetime, str]]:
    """Return (time, words) of the steps of an invoice that concern its tenant, oldest first.

    What the operator does before an invoice is issued is left out. Credit notes are steps too.
    """
    currency = row.currency
    steps = [
        (event.at, _STEPS_SHOWN[event.to_state])
        for event in events(row)
        if event.to_state in _STEPS_SHOWN
    ]
    notes = [
        (note.issued_at, f"Credit note {note.number}: {money.display(-note.total_minor, currency)}")
        for note in credit_notes(row)
    ]
    return sorted([*steps, *notes], key=lambda step: step[0])


def payments(row: Invoice) -> Sequence[Payment]:
    """Return the invoice's payments, oldest first, with their refunds and disputes."""
    rows = row.payments.prefetch_related("refunds", "disputes")
    return list(rows.order_by("received_on", "id"))


def every_credit_note() -> QuerySet[CreditNote]:
    """Return the credit notes of all tenants with tenant and invoice, the newest first."""
    rows = CreditNote.objects.select_related("tenant", "invoice")
    return rows.defer("document", "invoice__document").order_by("-issued_at", "-number")


def get_credit_note(tenant: Tenant | None, number: str) -> CreditNote:
    """Return the credit note with this number.

    ``tenant`` None searches all tenants; only operator pages may do so.

    Raises:
        Missing: no credit note has this number, or it belongs to another tenant.
    """
    rows = CreditNote.objects.select_related("invoice").filter(number=number)
    row = (rows.filter(tenant=tenant) if tenant else rows).first()
    if row is None:
        raise Missing("There is no such credit note; an invoice's page lists its credit notes.")
    return row


def credit_notes(row: Invoice) -> Sequence[CreditNote]:
    """Return the invoice's credit notes, oldest first, without their documents."""
    return list(row.credit_notes.defer("document").order_by("number"))


def proof(row: Invoice) -> Operation | None:
    """Return the operation of the invoice's newest verification; None if none was requested.

    The operation may still run, and it may have failed.
    """
    # The invoice's row does not refer to it.
    requested = Operation.objects.filter(subject_id=row.id, kind__in=VERIFY)
    return requested.order_by("-created_at").first()


def _light() -> QuerySet[Invoice]:
    # These JSON columns are large, and lists do not show them.
    rows = Invoice.objects.defer("document", "manifest", "quality")
    # Computed only for the rows of the page, and only if something may be due.
    is_unpaid = When(state__in=receiving.UNPAID, then=receiving.outstanding())
    return rows.annotate(left_minor=Case(is_unpaid, default=0))
