"""The invoice before this one in the same billing month: included units and tiers go on from it."""

from controlplane.core.errors import Conflict
from plans.invoicing import catalogue_prices, document, states
from plans.models import Invoice
from plans.month_so_far import MonthSoFar
from plans.periods import Period

# States in which an invoice does not change any more but for its payment.
AGREED = frozenset({Invoice.State.APPROVED, Invoice.State.ISSUING, *states.NUMBERED})


class EarlierInvoiceOpen(Conflict):
    """The invoice goes on where an earlier one of its month ends, and that one may change yet."""

    code = "invoice.earlier_open"


def find(tenant_id: str, period: Period, month: Period) -> Invoice | None:
    """Return the last invoice of ``month`` that ends before ``period`` begins."""
    before = Invoice.objects.filter(
        tenant_id=tenant_id, starts_at__gte=month.starts_at, ends_at__lte=period.starts_at
    )
    return before.order_by("-ends_at").first()


def so_far(invoice: Invoice | None) -> MonthSoFar | None:
    """Return the state of the month after ``invoice``; None while it has no document."""
    if invoice is None:
        return MonthSoFar()
    if not invoice.document or invoice.state in {Invoice.State.CLOSING, Invoice.State.HELD}:
        return None
    left = document.loaded(invoice.document).get("month_so_far", {})
    # Engines 1 and 2 did not keep what was used: after theirs the month begins anew.
    return catalogue_prices.month_so_far(left) if "segments" in left else MonthSoFar()


def require_agreed(invoice: Invoice) -> None:
    """Return when what ``invoice`` goes on from is agreed and has not changed since.

    Raises:
        EarlierInvoiceOpen: approve the earlier invoice first, or close this one again.
    """
    month = document.month_of(document.loaded(invoice.document))
    before = find(invoice.tenant_id, Period(invoice.starts_at, invoice.ends_at), month)
    if before is not None and before.state not in AGREED:
        raise EarlierInvoiceOpen(
            f"The invoice up to {before.ends_at.isoformat()} is {before.state}: approve it first, "
            "for this one goes on where it ends.",
            invoice=before.pk,
        )
    left = so_far(before)
    if left is None or left.plain() != invoice.manifest["month_before"]:
        raise EarlierInvoiceOpen(
            "The earlier invoice of this month was closed anew since: close this one again, for "
            "its included amounts and tiers go on where that one ends."
        )
