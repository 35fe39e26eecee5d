"""Replaces an issued invoice, whose buyer or tax is wrong, by a new one of the same period.

The new invoice has a number of its own, the lines of the old one, and the billing details and the
tax that the tenant has now. The old invoice is voided by a credit note, and both documents name
each other's numbers. What was paid for the old invoice became credit by the credit note, and this
credit pays the new one.
"""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal

from django.db import transaction
from django.utils import timezone

from controlplane.core import audit
from controlplane.core.audit import Actor
from controlplane.core.errors import Conflict
from plans.invoicing import (
    agreed_terms,
    close_validation,
    credit_notes,
    document,
    facts,
    invoice_closing,
    invoice_verification,
    issuing,
    line_taxes,
    states,
)
from plans.invoicing.agreed_terms import Agreed
from plans.invoicing.document import Document
from plans.invoicing.draft_batch import Draft
from plans.models import Invoice
from plans.rating import pricing
from plans.rating.month_so_far import MonthSoFar
from plans.rating.periods import Period
from plans.rating.pricing import Line, Rating, SellerRule
from plans.rating.taxes import TaxRule
from tenants.models import Tenant

State = Invoice.State


class DetailsMissing(Conflict):
    """The tenant has no complete billing details, which every invoice needs."""

    code = close_validation.DETAILS_MISSING


class Changed(Conflict):
    """The replacement would be another one than the preview that was confirmed."""

    code = "invoice.replacement_changed"


def preview(invoice: Invoice) -> Document:
    """Return the document that ``replace`` would issue now, without number and dates.

    Raises:
        WrongState: the invoice is not issued, is replaced already, was written off, or its total is
            zero or below; or an approved invoice corrects it.
        DetailsMissing: the tenant's billing details are not complete.
        Invalid: the table of tax rates lacks a country.
    """
    _require_replaceable(invoice)
    tenant, stored = invoice.tenant, document.loaded(invoice.document)
    buyer = facts.buyer_of(tenant)
    if words := close_validation.lacking_details(buyer):
        raise DetailsMissing(f"{words}, then replace the invoice.")
    seller = invoice_verification.pinned_seller(stored)
    period = Period(invoice.starts_at, invoice.ends_at)
    agreed = Agreed.read_each([tenant], period)[tenant.id]
    time_zone = stored["period"]["time_zone"]
    tax = agreed_terms.tax_of(tenant, agreed, seller.vat_country, period, time_zone)
    rule = seller.rule.taxed(tax) if tax else seller.rule
    corrected = {
        entry["number"]: _newest(tenant.id, entry["number"]) for entry in stored["corrections"]
    }
    manifest = {name: value for name, value in stored["manifest"].items() if name != "tax"}
    # The other inputs stay as they are, so a verification computes the same amounts.
    manifest["corrections"] = _renewed(manifest["corrections"], corrected, stored, rule.tax)
    rating = _taxed(stored["lines"], rule, corrected, manifest["corrections"])
    made = {
        **stored,
        **dict.fromkeys(document.NUMBERED),
        "lines": document.lines_of(rating),
        "taxes": [document.tax_of(entry) for entry in rating.taxes],
        "tax_minor": rating.tax_minor,
        "total_minor": rating.net_minor + rating.tax_minor,
        "buyer": buyer,
        "corrections": _renewed(stored["corrections"], corrected, stored, rule.tax),
        "manifest": {**manifest, **({"tax": tax.plain()} if tax else {})},
    }
    return document.replacing(made, stored["number"], stored["issued_at"])


def digest(made: Document) -> str:
    """Return the hex SHA-256 of a preview, by which ``replace`` knows what was confirmed."""
    return document.digest(document.canonical(made))


def replace(
    *, invoice: Invoice, reason: str, by: Actor, confirmed: str = "", now: datetime | None = None
) -> Invoice:
    """Void an issued invoice unless it is voided, and issue its replacement, in one transaction.

    Returns the replacement, also if it was issued before. The credit note prints ``reason``.
    Credit notes for parts of the old invoice are not repeated: the replacement charges all lines.
    ``confirmed`` is the ``digest`` of the preview that somebody confirmed; empty: none.

    Raises:
        Changed: the preview is another one now.
        All errors of ``preview`` and of ``credit_notes.void``.
    """
    instant = (now or timezone.now()).replace(microsecond=0)
    with transaction.atomic():
        # As ``issuing.approve``: a draft that corrects the old invoice is not approved meanwhile.
        Tenant.objects.select_for_update().get(pk=invoice.tenant_id)
        old = states.locked(invoice)
        if (known := replacement_of(old)) is not None:
            return known
        made = preview(old)
        if confirmed and confirmed != digest(made):
            raise Changed(
                "The billing details or the tax have changed since the preview: look at it again."
            )
        if old.state != State.VOIDED:
            credit_notes.void(invoice=old, reason=reason, by=by, now=instant)
        row = Invoice.objects.create(
            tenant=old.tenant,
            starts_at=old.starts_at,
            ends_at=old.ends_at,
            replaces=old,
            releases=old.releases,
        )
        why = f"replaces {old.number}: {reason}"
        states.move(row, State.CLOSING, by=by, reason=why)
        draft = Draft.of(made, old.legal_entity)
        invoice_closing.store_drafts([row], {row.id: draft}, by=by, reason=why)
        states.move(row, State.APPROVED, by=by, reason=why)
        issued = issuing.issue(invoice=row, by=by, now=instant)
        after = {"replacement": issued.number, "total_minor": issued.total_minor}
        audit.record(by, "invoice.replace", states.subject_of(old), after=after, reason=reason)
    return issued


def is_possible(invoice: Invoice) -> bool:
    """Return whether an invoice without a replacement can be replaced."""
    # ``replace`` voids those that are not voided yet.
    states_before = credit_notes.CREDITABLE | {State.VOIDED}
    return invoice.state in states_before and invoice.total_minor > 0


def replacement_of(invoice: Invoice) -> Invoice | None:
    """Return the invoice that replaces ``invoice``; None if there is none. Only a voided one has.

    Queries nothing for an invoice in another state.
    """
    if invoice.state != State.VOIDED:
        return None
    return Invoice.objects.select_related("tenant").filter(replaces=invoice).first()


def _newest(tenant_id: str, number: str) -> Invoice:
    """Return the invoice with this number, or the last one that was issued in its place."""
    row = Invoice.objects.get(tenant_id=tenant_id, number=number)
    while (later := replacement_of(row)) is not None:
        row = later
    return row


def _renewed(
    corrections: list[Document], now: Mapping[str, Invoice], stored: Document, own: TaxRule
) -> list[Document]:
    """Return the corrections of ``stored`` with the numbers and the tax of their invoices ``now``.

    ``own`` is the tax of the replacement. Corrections by former engines have no tax of their own.
    """
    has_own = stored["manifest"]["engine_version"] not in facts.CORRECTIONS_AT_OWN_TAX
    found = []
    for entry in corrections:
        row = now[entry["number"]]
        rest = {**entry, "number": row.number}
        rest.pop("tax", None)
        tax = line_taxes.own_tax(document.loaded(row.document))
        # Without its own tax a correction bears that of the invoice, so the document has one.
        found.append({**rest, "tax": tax.plain()} if has_own and tax.key != own.key else rest)
    return found


def _taxed(
    lines: list[Document],
    rule: SellerRule,
    now: Mapping[str, Invoice],
    corrections: list[Document],
) -> Rating:
    """Return ``lines`` with the tax of ``rule``, or with the number and tax of their correction."""
    taxes = {row["number"]: TaxRule.from_plain(row["tax"]) for row in corrections if "tax" in row}
    found = []
    for line in lines:
        detail, description = line["detail"], line["description"]
        if line["kind"] == "correction":
            old, number = detail["corrects"], now[detail["corrects"]].number or ""
            detail = {**detail, "corrects": number}
            description = description.replace(f"Correction of {old}: ", f"Correction of {number}: ")
        found.append(
            Line(
                line["kind"],
                line["meter"],
                description,
                Decimal(line["quantity"]),
                line["unit"],
                Decimal(line["unit_price"]),
                line["amount_minor"],
                detail,
                taxes.get(detail.get("corrects")),
            )
        )
    return Rating(tuple(found), pricing.taxes_on(found, rule), MonthSoFar())


def _require_replaceable(invoice: Invoice) -> None:
    if (known := replacement_of(invoice)) is not None:
        raise states.WrongState(
            f"{known.number} replaces this invoice already: replace that one.", state=invoice.state
        )
    if not is_possible(invoice):
        raise states.WrongState(
            "Only an issued invoice with a total above zero can be replaced.", state=invoice.state
        )
    approved = Invoice.objects.filter(tenant_id=invoice.tenant_id, state=State.APPROVED)
    for manifest in approved.values_list("manifest", flat=True):
        if any(entry["number"] == invoice.number for entry in manifest.get("corrections", [])):
            raise states.WrongState(
                "An approved invoice corrects this one: issue it first, then replace this one and "
                "that one.",
                state=invoice.state,
            )
