"""Finds what an invoice continues or corrects: the month's previous invoice, and changed months.

An issued invoice never changes. Each close compares the tenant's newest invoices with the usage of
today: ended months, and the earlier part of the invoice's own month. A month whose usage changed is
priced again (``rated_period``), and the new invoice charges the difference as correction lines. Its
document stores the state of the month after the correction, from which the next one continues.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime

from controlplane.core.errors import Conflict
from plans.invoicing import billing_inputs, document, rated_period, states
from plans.invoicing.document import Document
from plans.invoicing.facts import Correction, Facts
from plans.invoicing.rated_period import Reader
from plans.models import Invoice
from plans.rating.month_so_far import MonthSoFar
from plans.rating.periods import Period

# States in which only the payment of an invoice may still change.
AGREED = frozenset({Invoice.State.APPROVED, Invoice.State.ISSUING, *states.NUMBERED})
_COMPARED = 12  # invoices per close; older months are never corrected


class PreviousInvoiceOpen(Conflict):
    """The previous invoice of the month, which this one continues, may still change."""

    code = "invoice.earlier_open"


def previous_invoice(tenant_id: str, period: Period, month: Period) -> Invoice | None:
    """Return the last invoice of ``month`` that ends before ``period`` begins."""
    before = Invoice.objects.filter(
        tenant_id=tenant_id, starts_at__gte=month.starts_at, ends_at__lte=period.starts_at
    )
    return before.order_by("-ends_at").first()


def month_after(invoice: Invoice | None) -> MonthSoFar | None:
    """Return the state of the month after ``invoice``; None while it has no valid document."""
    if invoice is None:  # the month begins
        return MonthSoFar()
    # An invoice that is being closed again still has its old document.
    if not invoice.document or invoice.state in {Invoice.State.CLOSING, Invoice.State.HELD}:
        return None
    left = document.loaded(invoice.document).get("month_so_far", {})
    # Engines 1 and 2 did not store the usage: after their invoices the month starts from zero.
    return billing_inputs.month_so_far(left) if "segments" in left else MonthSoFar()


def require_agreed(invoice: Invoice) -> None:
    """Raise unless the previous invoice of the month is agreed and unchanged since the draft.

    Raises:
        PreviousInvoiceOpen: approve the previous invoice first, or close this one again.
    """
    month = document.month_of(document.loaded(invoice.document))
    period = Period(invoice.starts_at, invoice.ends_at)
    before = previous_invoice(invoice.tenant_id, period, month)
    if before is not None and before.state not in AGREED:
        raise PreviousInvoiceOpen(
            f"The invoice up to {before.ends_at.isoformat()} is {before.state}: approve it first, "
            "because this invoice continues its included amounts and tiers.",
            invoice=before.pk,
        )
    left = month_after(before)
    if left is None or left.plain() != invoice.manifest["month_before"]:
        raise PreviousInvoiceOpen(
            "The previous invoice of this month was closed again since: close this one again too, "
            "because it continues the included amounts and tiers of the previous one."
        )


def agreed(tenant_id: str, but: str = "") -> list[tuple[Invoice, Document]]:
    """Return the tenant's newest approved or issued invoices except ``but``, oldest first."""
    rows = Invoice.objects.filter(tenant_id=tenant_id, state__in=AGREED).exclude(pk=but)
    newest = list(rows.order_by("-ends_at")[:_COMPARED])
    return [(row, document.loaded(row.document)) for row in reversed(newest)]


def find(
    facts: Facts, known: Iterable[tuple[Invoice, Document]], before: Invoice | None, read: Reader
) -> tuple[Correction, ...]:
    """Return the months to correct, oldest first; ``before`` is the month's previous invoice.

    Months of another seller or currency are skipped, and so are documents of old engines that
    stored no usage.
    """
    same = [
        (row, made)
        for row, made in known
        if (row.legal_entity, row.currency) == (facts.legal_entity, facts.seller_rule.currency)
    ]
    found = list(_next_of_ended_months(same, facts.period.starts_at))
    # The running month is continued, not corrected, unless an invoice of it has a number already.
    if before is not None and before.state in states.NUMBERED:
        found.append(Correction(facts.month, before.number or "", 1, facts.so_far))
    return tuple(row for row in found if rated_period.with_usage_of_now(row, read) != row.before)


def require_current(invoice: Invoice) -> None:
    """Raise if another agreed invoice has corrected one of the same months since the draft.

    Raises:
        PreviousInvoiceOpen: this invoice must be closed again.
    """
    pinned = invoice.manifest.get("corrections", [])
    known = agreed(invoice.tenant_id, but=invoice.pk) if pinned else []
    next_n = {
        row.month.starts_at.isoformat(): row.n
        for row in _next_of_ended_months(known, invoice.starts_at)
    }
    for entry in pinned:
        if entry["n"] != next_n.get(entry["month_starts_at"], entry["n"]):
            raise PreviousInvoiceOpen(
                f"Another invoice has corrected {entry['number']} since: close this one again, "
                "because it would bill the same usage twice."
            )


def pinned(manifest: Document) -> tuple[Correction, ...]:
    """Return the corrections that a manifest pins."""
    return tuple(
        Correction(
            Period(
                *(datetime.fromisoformat(entry[f"month_{end}_at"]) for end in ("starts", "ends"))
            ),
            entry["number"],
            entry["n"],
            billing_inputs.month_so_far(entry["month_before"]),
        )
        for entry in manifest.get("corrections", [])
    )


def usage_since(invoice: Invoice) -> datetime:
    """Return the start of the usage that an invoice depends on; it may correct earlier months."""
    months = [datetime.fromisoformat(entry["month_starts_at"])
              for entry in invoice.manifest.get("corrections", [])]  # fmt: skip
    return min([invoice.starts_at, *months])


def _next_of_ended_months(
    known: Iterable[tuple[Invoice, Document]], until: datetime
) -> Iterator[Correction]:
    """Yield the next possible correction of each month whose last invoice is issued."""
    known = list(known)
    for row, made in known:
        month = document.month_of(made)
        # Only the last invoice of a month has the state of the whole month.
        if row.ends_at != month.ends_at or row.ends_at > until or row.state not in states.NUMBERED:
            continue
        # Invoices of later months that corrected this one already; a month in its own document is
        # its earlier part, which ``made`` contains.
        carried = [
            entry
            for _, other in known
            if document.month_of(other) != month
            for entry in other.get("corrections", [])
            if entry["month_starts_at"] == month.starts_at.isoformat()
        ]
        newest = max(carried, key=lambda entry: entry["n"], default=None)
        so_far = (newest or made)["month_so_far"]
        if "segments" in so_far:  # engines 1 and 2 stored no segments
            n = newest["n"] + 1 if newest else 1
            state = billing_inputs.month_so_far(so_far)
            yield Correction(month, row.number or "", n, state)
