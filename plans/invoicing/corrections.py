"""Finds what an invoice continues or corrects: the month's previous invoice, and changed months.

An issued invoice never changes. Each close compares the usage that issued invoices billed with the
usage that is known today. It covers ended months, and the part of the invoice's own month that has
an issued invoice. A month whose usage changed is priced again (``rated_period``), and the new
invoice charges the difference as correction lines. Its document stores the state of that month
after the correction, from which the next correction continues.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime

from django.db.models import F, Window
from django.db.models.functions import RowNumber

from controlplane.core.errors import Conflict
from plans.invoicing import billing_inputs, document, line_taxes, rated_period, states
from plans.invoicing.document import Document
from plans.invoicing.facts import CORRECTIONS_AT_OWN_TAX, Correction, Facts
from plans.invoicing.rated_period import Reader
from plans.models import Invoice
from plans.rating.month_so_far import MonthSoFar
from plans.rating.periods import Period
from plans.rating.taxes import TaxRule

# States in which the lines and amounts of an invoice are final.
AGREED = frozenset({Invoice.State.APPROVED, Invoice.State.ISSUING, *states.NUMBERED})
_COMPARED = 12  # invoices per close; older months are never corrected


class PreviousInvoiceOpen(Conflict):
    """The invoice continues or corrects another one that may still change or has changed since."""

    code = "invoice.earlier_open"


# An invoice in these states has no valid amounts; it may still have those of an earlier draft.
UNPRICED = frozenset({Invoice.State.CLOSING, Invoice.State.HELD})


def previous_invoice(tenant_id: str, period: Period, month: Period) -> Invoice | None:
    """Return the tenant's last invoice of ``month`` before ``period``, in any state.

    None if ``period`` has the month's first invoice.
    """
    before = Invoice.valid().filter(
        tenant_id=tenant_id, starts_at__gte=month.starts_at, ends_at__lte=period.starts_at
    )
    return before.order_by("-ends_at").first()


def previous_invoices(period: Period, months: Mapping[str, Period]) -> dict[str, Invoice]:
    """Return ``previous_invoice`` of each tenant that has one, in one query at most.

    ``months`` are the billing months of the tenants, by the tenant's id.
    """
    # A period that begins with the month continues no invoice.
    continued = {id: month for id, month in months.items() if month.starts_at < period.starts_at}
    if not continued:
        return {}
    rows = Invoice.valid().filter(
        tenant_id__in=continued,
        starts_at__gte=min(month.starts_at for month in continued.values()),
        ends_at__lte=period.starts_at,
    )
    found: dict[str, Invoice] = {}
    for row in rows.order_by("ends_at"):
        if row.starts_at >= continued[row.tenant_id].starts_at:
            found[row.tenant_id] = row
    return found


def month_after(invoice: Invoice | None) -> MonthSoFar | None:
    """Return the state of the month after ``invoice``, the previous invoice of the month.

    None: ``invoice`` is closing, held or has no document, so it must be closed first. If
    ``invoice`` is None, no previous invoice exists, and the returned state is empty.
    """
    if invoice is None:  # the month begins
        return MonthSoFar()
    # An invoice that is closing or held may still have the document of an earlier draft.
    if not invoice.document or invoice.state in UNPRICED:
        return None
    made = document.loaded(invoice.document)
    left = made.get("month_so_far", {})
    # Pricing engines 1 and 2 did not store the usage: after their invoices the month starts from
    # zero.
    if "segments" not in left:
        return MonthSoFar()
    return billing_inputs.month_so_far(left, made["currency"])


def require_agreed(invoice: Invoice) -> None:
    """Raise unless the month's previous invoice is approved and as it was when ``invoice`` closed.

    ``invoice`` must have a document. Without a previous invoice nothing is raised.

    Raises:
        PreviousInvoiceOpen: approve the previous invoice first, or close ``invoice`` again.
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
    """Return the tenant's newest approved or issued invoices with their documents, oldest first.

    Returns at most ``_COMPARED`` of them. ``but`` is the id of an invoice to leave out.
    """
    return agreed_each([tenant_id], but=[but])[tenant_id]


def agreed_each(
    tenant_ids: Collection[str], but: Collection[str] = ()
) -> dict[str, list[tuple[Invoice, Document]]]:
    """Return what ``agreed`` returns of each tenant, in one query. ``but`` are ids of invoices."""
    rank = Window(RowNumber(), partition_by=F("tenant_id"), order_by=F("ends_at").desc())
    rows = Invoice.valid().filter(tenant_id__in=tenant_ids, state__in=AGREED).exclude(pk__in=but)
    newest = rows.annotate(rank=rank).filter(rank__lte=_COMPARED).order_by("ends_at")
    found: dict[str, list[tuple[Invoice, Document]]] = {id: [] for id in tenant_ids}
    for row in newest:
        found[row.tenant_id].append((row, document.loaded(row.document)))
    return found


def candidates(
    facts: Facts, known: Iterable[tuple[Invoice, Document]], before: Invoice | None
) -> tuple[Correction, ...]:
    """Return the possible correction of each invoiced month, oldest month first.

    ``known`` are the invoices from ``agreed``. ``before`` is the previous invoice of the month of
    ``facts``; if it is issued, the earlier part of this month is one, too. Months that ended later
    than the period of ``facts`` begins are skipped. So are months of another seller or currency,
    and documents of old engines that stored no usage.

    A correction has the tax of the invoice that it names, the last one of its month: the difference
    is of the whole month, whose supply this invoice completed.
    """
    same = [
        (row, made)
        for row, made in known
        if (row.legal_entity, row.currency) == (facts.legal_entity, facts.seller_rule.currency)
    ]
    found = list(_next_of_ended_months(same, facts.period.starts_at))
    # The earlier part of the own month is corrected only if its last invoice is issued.
    if before is not None and before.state in states.NUMBERED:
        tax = line_taxes.own_tax(document.loaded(before.document))
        found.append(Correction(facts.month, before.number or "", 1, facts.so_far, tax))
    own = facts.seller_rule.tax
    # None for the same tax, so that the document has one.
    return tuple(
        replace(row, tax=None) if row.tax and row.tax.key == own.key else row for row in found
    )


def changed(candidates: Iterable[Correction], read: Reader) -> tuple[Correction, ...]:
    """Return those of ``candidates`` whose usage has changed; ``read`` returns today's usage."""
    return tuple(
        row for row in candidates if rated_period.with_usage_of_now(row, read) != row.before
    )


def require_current(invoice: Invoice) -> None:
    """Raise if a month that ``invoice`` corrects was corrected or replaced since it was drafted.

    Raises:
        PreviousInvoiceOpen: ``invoice`` must be closed again.
    """
    pinned = invoice.manifest.get("corrections", [])
    known = agreed(invoice.tenant_id, but=invoice.pk) if pinned else []
    next_n = {
        row.month.starts_at.isoformat(): row.n
        for row in _next_of_ended_months(known, invoice.starts_at)
    }
    numbers = [entry["number"] for entry in pinned]
    replaced = Invoice.objects.filter(tenant_id=invoice.tenant_id, number__in=numbers)
    for number in replaced.exclude(replacement=None).values_list("number", flat=True):
        raise PreviousInvoiceOpen(
            f"{number} was replaced since: close this one again, because it would name the wrong "
            "invoice and might bear its tax."
        )
    for entry in pinned:
        if entry["n"] != next_n.get(entry["month_starts_at"], entry["n"]):
            raise PreviousInvoiceOpen(
                f"Another invoice has corrected {entry['number']} since: close this one again, "
                "because it would bill the same usage twice."
            )


def pinned(manifest: Document, currency: str) -> tuple[Correction, ...]:
    """Return the corrections that a manifest pins, each with its tax and the state before it."""
    return tuple(
        Correction(
            Period(
                *(datetime.fromisoformat(entry[f"month_{end}_at"]) for end in ("starts", "ends"))
            ),
            entry["number"],
            entry["n"],
            billing_inputs.month_so_far(entry["month_before"], currency),
            TaxRule.from_plain(entry["tax"]) if "tax" in entry else None,
        )
        for entry in manifest.get("corrections", [])
    )


def wrongly_taxed(invoice: Invoice, stored: Document) -> Iterator[str]:
    """Yield the number of each corrected invoice whose tax the correction on ``invoice`` lacks.

    ``stored`` is the document of ``invoice``. Engines 3 and 4 taxed corrections by another rule, so
    nothing is yielded for their documents.
    """
    manifest = stored["manifest"]
    is_older = manifest["engine_version"] in CORRECTIONS_AT_OWN_TAX
    entries = [] if is_older else manifest["corrections"]
    numbers = [entry["number"] for entry in entries]
    rows = Invoice.objects.filter(tenant_id=invoice.tenant_id, number__in=numbers)
    found = {row.number: line_taxes.own_tax(document.loaded(row.document)) for row in rows}
    for entry in entries:
        borne = TaxRule.from_plain(entry["tax"]) if "tax" in entry else line_taxes.own_tax(stored)
        tax = found.get(entry["number"])
        if tax is None or tax.key != borne.key:
            yield entry["number"]


def span_of(month: Period, period: Period) -> Period:
    """Return the part of ``month`` before ``period``: what a correction of ``month`` covers.

    ``period`` is that of the invoice that corrects. ``month`` must begin before it.
    """
    return Period(month.starts_at, min(month.ends_at, period.starts_at))


def usage_since(invoice: Invoice) -> datetime:
    """Return the start of the usage that ``invoice`` depends on.

    That is the start of its period, or of the earliest month that ``invoice`` corrects.
    """
    months = [datetime.fromisoformat(entry["month_starts_at"])
              for entry in invoice.manifest.get("corrections", [])]  # fmt: skip
    return min([invoice.starts_at, *months])


def _next_of_ended_months(
    known: Iterable[tuple[Invoice, Document]], until: datetime
) -> Iterator[Correction]:
    """Yield the next possible correction of each month whose last invoice is issued.

    Skips months that end after ``until``. Does not compare the usage: the month may have no change.
    """
    known = list(known)
    for row, made in known:
        month = document.month_of(made)
        # Only the month's last invoice stores the state of the whole month.
        if row.ends_at != month.ends_at or row.ends_at > until or row.state not in states.NUMBERED:
            continue
        # Corrections of this month on invoices of later months. A correction on an invoice of the
        # same month is left out: it is about the month's earlier part, and ``made`` includes it.
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
            state = billing_inputs.month_so_far(so_far, made["currency"])
            yield Correction(month, row.number or "", n, state, line_taxes.own_tax(made))
