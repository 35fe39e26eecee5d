"""Finds the months that an invoice corrects because usage landed after they were invoiced.

An issued invoice never changes. Each close compares the tenant's newest invoices with the usage of
today: ended months, and the earlier part of the invoice's own month. A month whose usage changed is
priced again (``rating``), and the new invoice charges the difference as correction lines. Its
document stores the state of the month after the correction, from which the next one continues.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime

from plans.invoicing import catalog_prices, document, rating, states
from plans.invoicing.document import Document
from plans.invoicing.facts import Correction, Facts
from plans.invoicing.previous_invoice import AGREED, PreviousInvoiceOpen
from plans.invoicing.rating import Reader
from plans.models import Invoice
from plans.rating.periods import Period

_LOOKED_AT = 12  # compare only so many invoices per close; older months are never corrected


def agreed(tenant_id: str, but: str = "") -> list[tuple[Invoice, Document]]:
    """Return the tenant's newest approved or issued invoices except ``but``, oldest first."""
    rows = Invoice.objects.filter(tenant_id=tenant_id, state__in=AGREED).exclude(pk=but)
    newest = list(rows.order_by("-ends_at")[:_LOOKED_AT])
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
    found = list(_ended(same, facts.period.starts_at))
    if before is not None and before.state in states.NUMBERED:
        found.append(Correction(facts.month, before.number or "", 1, facts.so_far))
    return tuple(row for row in found if rating.with_usage_of_now(row, read) != row.before)


def require_current(invoice: Invoice) -> None:
    """Raise if another agreed invoice has corrected one of the same months since the draft.

    Raises:
        PreviousInvoiceOpen: this invoice must be closed again.
    """
    pinned = invoice.manifest.get("corrections", [])
    known = agreed(invoice.tenant_id, but=invoice.pk) if pinned else []
    next_n = {_key(row.month): row.n for row in _ended(known, invoice.starts_at)}
    for entry in pinned:
        if entry["n"] != next_n.get(entry["month_starts_at"], entry["n"]):
            raise PreviousInvoiceOpen(
                f"Another invoice has corrected {entry['number']} since: close this one again, "
                "because it would bill the same usage twice."
            )


def _ended(known: Iterable[tuple[Invoice, Document]], until: datetime) -> Iterator[Correction]:
    """Yield the next possible correction of each month whose last invoice is issued."""
    known = list(known)
    for row, made in known:
        month = document.month_of(made)
        # Only the last invoice of a month has the state of the whole month.
        if row.ends_at != month.ends_at or row.ends_at > until or row.state not in states.NUMBERED:
            continue
        carried = [entry for _, other in known for entry in _carried(other, month)]
        newest = max(carried, key=lambda entry: entry["n"], default=None)
        so_far = (newest or made)["month_so_far"]
        if "segments" in so_far:  # engines 1 and 2 stored no segments
            n = newest["n"] + 1 if newest else 1
            state = catalog_prices.month_so_far(so_far)
            yield Correction(month, row.number or "", n, state)


def _carried(made: Document, month: Period) -> list[Document]:
    """Return the corrections of an ended month in the document of a later month."""
    if document.month_of(made) == month:
        return []
    found = made.get("corrections", [])
    return [entry for entry in found if entry["month_starts_at"] == _key(month)]


def _key(month: Period) -> str:
    return month.starts_at.isoformat()


def pinned(manifest: Document) -> tuple[Correction, ...]:
    """Return the corrections that a manifest pins."""
    return tuple(
        Correction(
            Period(
                *(datetime.fromisoformat(entry[f"month_{end}_at"]) for end in ("starts", "ends"))
            ),
            entry["number"],
            entry["n"],
            catalog_prices.month_so_far(entry["month_before"]),
        )
        for entry in manifest.get("corrections", [])
    )


def usage_since(invoice: Invoice) -> datetime:
    """Return the start of the usage that an invoice depends on; it may correct earlier months."""
    months = [datetime.fromisoformat(entry["month_starts_at"])
              for entry in invoice.manifest.get("corrections", [])]  # fmt: skip
    return min([invoice.starts_at, *months])
