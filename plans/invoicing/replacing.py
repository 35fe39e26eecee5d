"""Replaces an issued invoice, whose buyer or tax is wrong, by a new one of the same period.

The new invoice has a number of its own, the lines of the old one, and the billing details and the
tax that the tenant has now. The old invoice is voided by a credit note, and both documents name
each other's numbers. What was paid for the old invoice became credit by the credit note, and this
credit pays the new one.
"""

from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal

from django.db import transaction
from django.utils import timezone

from controlplane.core import audit
from controlplane.core.audit import Actor
from plans.invoicing import (
    agreed_terms,
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

State = Invoice.State


def preview(invoice: Invoice) -> Document:
    """Return the document that ``replace`` would issue now, without number and dates.

    Raises:
        WrongState: the invoice is not issued, is replaced already, was written off, or its total is
            zero or below.
        Invalid: the table of tax rates lacks a country.
    """
    _require_replaceable(invoice)
    stored = document.loaded(invoice.document)
    seller = invoice_verification.pinned_seller(stored)
    tenant, period = invoice.tenant, Period(invoice.starts_at, invoice.ends_at)
    agreed = Agreed.read_each([tenant], period)[tenant.id]
    time_zone = stored["period"]["time_zone"]
    tax = agreed_terms.tax_of(tenant, agreed, seller.vat_country, period, time_zone)
    rule = seller.rule.taxed(tax) if tax else seller.rule
    pinned = {name: value for name, value in stored["manifest"].items() if name != "tax"}
    corrected = _with_kept_tax(pinned["corrections"], stored, rule.tax)
    rating = _taxed(stored, rule, corrected)
    made = {
        **stored,
        **dict.fromkeys(document.NUMBERED),
        "lines": document.lines_of(rating),
        "taxes": [document.tax_of(entry) for entry in rating.taxes],
        "tax_minor": rating.tax_minor,
        "total_minor": rating.net_minor + rating.tax_minor,
        "buyer": facts.buyer_of(tenant),
        "corrections": _with_kept_tax(stored["corrections"], stored, rule.tax),
        # The other inputs stay as they are, so a verification computes the same lines.
        "manifest": {
            **pinned, "corrections": corrected, **({"tax": tax.plain()} if tax else {}),
        },
    }  # fmt: skip
    return document.replacing(made, stored["number"], stored["issued_at"])


def replace(*, invoice: Invoice, reason: str, by: Actor, now: datetime | None = None) -> Invoice:
    """Void an issued invoice unless it is voided, and issue its replacement, in one transaction.

    Returns the replacement, also if it was issued before. The credit note prints ``reason``.
    Credit notes for parts of the old invoice are not repeated: the replacement charges all lines.

    Raises:
        All errors of ``preview`` and of ``credit_notes.void``.
    """
    instant = (now or timezone.now()).replace(microsecond=0)
    with transaction.atomic():
        old = states.locked(invoice)
        if (known := of(old)) is not None:
            return known
        made = preview(old)
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
    return invoice.state in states_before and min(invoice.net_minor, invoice.total_minor) > 0


def of(invoice: Invoice) -> Invoice | None:
    """Return the invoice that replaces ``invoice``; None if there is none. Only a voided one has.

    Queries nothing for an invoice in another state.
    """
    if invoice.state != State.VOIDED:
        return None
    return Invoice.objects.select_related("tenant").filter(replaces=invoice).first()


def _with_kept_tax(corrections: list[Document], stored: Document, own: TaxRule) -> list[Document]:
    """Return the corrections of ``stored``, each with the tax that it has, if it is not ``own``.

    The invoice of the corrected month is not replaced by this, so its tax stays right.
    """
    if stored["manifest"]["engine_version"] in facts.CORRECTIONS_AT_NEW_TAX:
        return corrections
    found = []
    for entry in corrections:
        tax = TaxRule.from_plain(entry["tax"]) if "tax" in entry else line_taxes.own_tax(stored)
        rest = {name: value for name, value in entry.items() if name != "tax"}
        # Without its own tax a correction bears that of the invoice, so the document has one.
        found.append(rest if tax.key == own.key else {**rest, "tax": tax.plain()})
    return found


def _taxed(stored: Document, rule: SellerRule, corrections: Iterable[Document]) -> Rating:
    """Return the lines of ``stored`` with the tax of ``rule``, or with that of their correction."""
    kept = {row["number"]: TaxRule.from_plain(row["tax"]) for row in corrections if "tax" in row}
    lines = tuple(
        Line(
            line["kind"],
            line["meter"],
            line["description"],
            Decimal(line["quantity"]),
            line["unit"],
            Decimal(line["unit_price"]),
            line["amount_minor"],
            line["detail"],
            kept.get(line["detail"].get("corrects")),
        )
        for line in stored["lines"]
    )
    return Rating(lines, pricing.taxes_on(lines, rule), MonthSoFar())


def _require_replaceable(invoice: Invoice) -> None:
    if (known := of(invoice)) is not None:
        raise states.WrongState(
            f"{known.number} replaces this invoice already: replace that one.", state=invoice.state
        )
    if not is_possible(invoice):
        raise states.WrongState(
            "Only an issued invoice with net amount and total above zero can be replaced.",
            state=invoice.state,
        )
