"""The previous invoice of a month, whose included amounts and tiers the next one continues."""

from controlplane.core.errors import Conflict
from plans.invoicing import catalog_prices, document, states
from plans.models import Invoice
from plans.rating.month_so_far import MonthSoFar
from plans.rating.periods import Period

# States in which only the payment of an invoice may still change.
AGREED = frozenset({Invoice.State.APPROVED, Invoice.State.ISSUING, *states.NUMBERED})


class PreviousInvoiceOpen(Conflict):
    """The previous invoice of the month, which this one continues, may still change."""

    code = "invoice.earlier_open"


def find(tenant_id: str, period: Period, month: Period) -> Invoice | None:
    """Return the last invoice of ``month`` that ends before ``period`` begins."""
    before = Invoice.objects.filter(
        tenant_id=tenant_id, starts_at__gte=month.starts_at, ends_at__lte=period.starts_at
    )
    return before.order_by("-ends_at").first()


def so_far(invoice: Invoice | None) -> MonthSoFar | None:
    """Return the state of the month after ``invoice``; None while it has no valid document."""
    if invoice is None:  # the month begins
        return MonthSoFar()
    # An invoice that is being closed again still has its old document.
    if not invoice.document or invoice.state in {Invoice.State.CLOSING, Invoice.State.HELD}:
        return None
    left = document.loaded(invoice.document).get("month_so_far", {})
    # Engines 1 and 2 did not store the usage: after their invoices the month starts from zero.
    return catalog_prices.month_so_far(left) if "segments" in left else MonthSoFar()


def require_agreed(invoice: Invoice) -> None:
    """Raise unless the previous invoice of the month is agreed and unchanged since the draft.

    Raises:
        PreviousInvoiceOpen: approve the previous invoice first, or close this one again.
    """
    month = document.month_of(document.loaded(invoice.document))
    before = find(invoice.tenant_id, Period(invoice.starts_at, invoice.ends_at), month)
    if before is not None and before.state not in AGREED:
        raise PreviousInvoiceOpen(
            f"The invoice up to {before.ends_at.isoformat()} is {before.state}: approve it first, "
            "because this invoice continues its included amounts and tiers.",
            invoice=before.pk,
        )
    left = so_far(before)
    if left is None or left.plain() != invoice.manifest["month_before"]:
        raise PreviousInvoiceOpen(
            "The previous invoice of this month was closed again since: close this one again too, "
            "because it continues the included amounts and tiers of the previous one."
        )
