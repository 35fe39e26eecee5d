"""Replacing invoices that correct earlier months, or that others correct.

The seller is in Germany and taxes by the VAT directive; the tenant is in France. It is charged 20 %
until it has a VAT id, and nothing afterwards. A message costs 1.00.
"""

from datetime import datetime
from functools import partial

import pytest

from plans.invoicing import credit_notes, issuing, replacing, states
from plans.invoicing.corrections import PreviousInvoiceOpen
from plans.models import Invoice
from tenants.models import Tenant
from tests.support.plans.billing_rows import ENDS_AT, STAFF, STARTS_AT
from tests.unit.plans.invoicing.test_corrections import (
    JUNE,
    LATER,
    MIDDLE,
    closed,
    correction_lines,
    issued,
    used,
)
from tests.unit.plans.invoicing.test_corrections_taxes import made, registered, verified
from tests.unit.plans.invoicing.test_corrections_taxes import owner as owner

pytestmark = pytest.mark.django_db
replace = partial(replacing.replace, reason="no VAT id", by=STAFF, now=LATER)


def verify(owner: Tenant, *invoices: Invoice) -> None:
    for invoice in invoices:
        assert verified(owner, Invoice.objects.get(pk=invoice.pk)).differences == ()


def test_a_replacement_names_and_taxes_the_replaced_months_of_its_corrections(
    owner: Tenant,
) -> None:
    used(owner, d3=7)
    april = issued(owner, STARTS_AT, ENDS_AT)
    used(owner, d3=12, d40=9)
    may = issued(owner, ENDS_AT, JUNE)
    registered(owner)

    new_april, new_may = replace(invoice=april), replace(invoice=may)

    assert correction_lines(may) == [(april.number, 5, 500)]
    assert correction_lines(new_may) == [(new_april.number, 5, 500)]
    lines = {line["description"] for line in made(new_may)["lines"]}
    assert any(text.startswith(f"Correction of {new_april.number}: ") for text in lines)
    assert len(made(may)["taxes"]) == len(made(new_may)["taxes"]) == 1
    assert (may.tax_minor, new_may.tax_minor) == (280, 0)
    verify(owner, may, new_may)


def test_a_month_that_is_replaced_later_is_right_once_its_correction_is_replaced_again(
    owner: Tenant,
) -> None:
    used(owner, d3=7)
    april = issued(owner, STARTS_AT, ENDS_AT)
    used(owner, d3=12, d40=9)
    may = issued(owner, ENDS_AT, JUNE)
    registered(owner)

    first = replace(invoice=may)
    new_april = replace(invoice=april)
    second = replace(invoice=first)

    assert (first.tax_minor, second.tax_minor) == (100, 0)  # 20 % of the correction of April
    assert correction_lines(first) == [(april.number, 5, 500)]
    assert correction_lines(second) == [(new_april.number, 5, 500)]
    verify(owner, first, second)


@pytest.mark.parametrize(
    ("end", "after"), [(MIDDLE, ENDS_AT), (ENDS_AT, JUNE)], ids=["own month", "ended month"]
)
def test_a_draft_that_corrects_a_replaced_invoice_is_closed_again(
    owner: Tenant, end: datetime, after: datetime
) -> None:
    used(owner, d3=7)
    first = issued(owner, STARTS_AT, end)
    used(owner, d3=9)
    draft = closed(owner, end, after)
    registered(owner)
    new = replace(invoice=first)

    with pytest.raises(PreviousInvoiceOpen, match=f"{first.number} was replaced since"):
        issuing.approve(invoice=draft, by=STAFF)
    again = issuing.approve(invoice=closed(owner, end, after), by=STAFF)

    assert correction_lines(again) == [(new.number, 2, 200)]
    assert again.tax_minor == 0


def test_an_invoice_that_an_approved_one_corrects_waits(owner: Tenant) -> None:
    used(owner, d3=7)
    april = issued(owner, STARTS_AT, ENDS_AT)
    used(owner, d3=12)
    may = issuing.approve(invoice=closed(owner, ENDS_AT, JUNE), by=STAFF)
    registered(owner)

    with pytest.raises(states.WrongState, match="An approved invoice corrects this one"):
        replace(invoice=april)
    issuing.issue(invoice=may, by=STAFF, now=LATER)
    new_april, new_may = replace(invoice=april), replace(invoice=may)

    assert correction_lines(new_may) == [(new_april.number, 5, 500)]
    assert new_may.tax_minor == 0


def test_an_invoice_below_zero_before_tax_but_not_with_it_is_voided_and_replaced(
    owner: Tenant,
) -> None:
    registered(owner)
    used(owner, d3=100)
    issued(owner, STARTS_AT, ENDS_AT)
    owner.tax_id = ""
    owner.save(update_fields=["tax_id"])
    used(owner, d3=0, d40=95)
    may = issued(owner, ENDS_AT, JUNE)

    new = replace(invoice=may)

    assert (may.net_minor, may.total_minor) == (-500, 1400)
    note = may.credit_notes.get()
    assert (note.net_minor, note.total_minor, note.receivable_minor) == (-500, 1400, 1400)
    assert credit_notes.verify(note).same
    assert (new.total_minor, new.state) == (1400, "issued")
    verify(owner, may, new)
