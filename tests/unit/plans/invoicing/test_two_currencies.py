"""Tenants of two legal entities and three currencies: nothing of one touches another."""

import json

import pytest

from controlplane.core.errors import Missing
from plans.catalog import parsing, publishing, selling
from plans.invoicing import (
    credit_notes,
    discounting,
    document,
    granting,
    invoice_verification,
    issuing,
    plan_change_preview,
    previewing,
)
from plans.invoicing.discounting import CouponCurrency, CouponUse, Reduction
from plans.invoicing.granting import Wish
from plans.invoicing.pinned_sellers import seller, seller_of
from plans.ledger import credit, grants, posting
from plans.models import Invoice, LedgerEntry
from plans.usage.reading import UsageCell
from tenants import admission
from tenants.models import Tenant
from tests.support.plans import billing_rows as rows
from tests.support.plans import two_sellers
from tests.support.plans.billing_rows import AFTER_GRACE, STAFF
from tests.support.plans.two_sellers import DOLLARS, FRANCS

pytestmark = pytest.mark.django_db


def used(owner: Tenant) -> list[UsageCell]:
    space = rows.space(owner)
    rows.address(space)
    return rows.used(rows.cell(space, "messages_in", 3_000_000, address="orders"))


def verified(invoice: Invoice, cells: list[UsageCell]) -> bool:
    found = invoice_verification.verify(invoice=invoice, cells=cells)
    assert found.same, found.differences
    return found.same


def test_each_tenant_is_invoiced_by_its_seller_in_its_currency() -> None:
    owners = [two_sellers.tenant(), two_sellers.tenant(FRANCS), two_sellers.tenant(DOLLARS)]
    invoices = []
    for owner in owners:
        cells = used(owner)
        invoices.append(rows.issued(owner, cells))
        assert verified(invoices[-1], cells)

    made = [document.loaded(row.document) for row in invoices]
    assert [(row["currency"], row["rounding"]) for row in made] == [
        ("EUR", "half_even"), ("CHF", "half_even"), ("USD", "half_up")]  # fmt: skip
    # Fee, 2 million messages, 720 hours of a space and of an address: 49 + 1.6 + 14.4 + 0.72, once,
    # three times and twice.
    assert [row["net_minor"] for row in made] == [6572, 19716, 13144]
    assert [row["taxes"][0]["percent"] for row in made] == ["19", "19", "6.25"]
    assert [row["seller"]["name"] for row in made] == [
        "Waypost Test GmbH", "Waypost Test GmbH", "Waypost Test Inc."]  # fmt: skip
    # One series for each legal entity, whatever the currency.
    assert [row.number for row in invoices] == ["WP-000001", "WP-000002", "WP-INC-000001"]
    assert [(row.due_at - row.issued_at).days for row in invoices if row.due_at and row.issued_at
            ] == [14, 14, 30]  # fmt: skip
    booked = LedgerEntry.objects.order_by("pk").values_list("legal_entity", "currency")
    assert list(booked) == [("wp", "EUR"), ("wp", "CHF"), ("wp-inc", "USD")]


def test_a_later_catalog_does_not_change_what_an_invoice_verifies_against() -> None:
    owner = two_sellers.tenant(DOLLARS)
    invoice = rows.issued(owner)
    made = two_sellers.document()
    made["sellers"]["wp-inc"] |= {"name": "Renamed Inc.", "tax_percent": "7", "payment_days": 1}
    made["plans"]["team"]["currencies"]["USD"]["monthly_fee_minor"] = 1
    publishing.publish(parsing.parse(json.dumps(made)), by=STAFF)

    assert verified(invoice, [])
    assert seller_of(owner).printed["name"] == "Renamed Inc."
    with pytest.raises(Missing, match="does not sell in EUR"):
        seller(1, "wp-inc", "EUR")
    with pytest.raises(Missing, match="no seller nobody"):
        seller(1, "nobody")


def test_credit_of_one_currency_never_pays_an_invoice_in_another() -> None:
    owner = two_sellers.tenant(DOLLARS)
    granting.grant(tenant=owner, wish=Wish("prepaid", 1000, "bank-1", "paid"), by=STAFF)
    european = two_sellers.tenant()
    granting.grant(tenant=european, wish=Wish("prepaid", 1000, "bank-1", "paid"), by=STAFF)

    invoice = rows.issued(owner)

    assert invoice.credit_minor == 1000
    assert grants.available(owner.pk, "wp-inc", "USD") == ()
    assert [row.left_minor for row in grants.available(european.pk, "wp", "EUR")] == [1000]
    assert grants.available(european.pk, "wp", "CHF") == ()
    assert credit.before(owner.pk, "wp", "EUR") == 0
    assert posting.balance(owner.pk, "prepaid:wp-inc", "USD") == 0
    assert posting.balance(owner.pk, "prepaid:wp-inc", "EUR") == 0


def test_amounts_of_terms_are_in_the_currency_of_the_tenant() -> None:
    owner = two_sellers.tenant(DOLLARS)

    given = discounting.give(
        tenant=owner, reduction=Reduction("Off", amount_minor=100), by=STAFF,
        now=rows.STARTS_AT,
    )  # fmt: skip
    least = discounting.commit(tenant=owner, title="Deal", minimum_minor=1, span=None, by=STAFF)

    assert (given.currency, least.currency) == ("USD", "USD")
    euros = discounting.create_coupon(
        code="EUROS", reduction=Reduction("Off", amount_minor=100), by=STAFF
    )
    dollars = discounting.create_coupon(
        code="DOLLARS", reduction=Reduction("Off", amount_minor=100), by=STAFF,
        use=CouponUse(currency="USD"),
    )  # fmt: skip
    assert (euros.currency, dollars.currency) == ("EUR", "USD")
    with pytest.raises(CouponCurrency, match="an amount in EUR"):
        discounting.redeem(tenant=owner, code="EUROS", by=STAFF)
    assert discounting.redeem(tenant=owner, code="DOLLARS", by=STAFF).currency == "USD"


def test_previews_and_the_plan_are_in_the_currency_of_the_tenant() -> None:
    owner = two_sellers.tenant(DOLLARS)
    now = rows.STARTS_AT + (rows.ENDS_AT - rows.STARTS_AT) / 2

    assert previewing.preview(owner, now).document["currency"] == "USD"
    found = plan_change_preview.price(owner, publishing.plan("business"), now)
    assert (found.currency, found.tax_percent) == ("USD", "6.25")
    # 98.00 and 196.00 dollars, with 6.25 %.
    assert (found.fees.present_minor, found.fees.chosen_minor) == (10413, 20825)
    assert admission.plan_of(owner).currency == "USD"


def test_credit_notes_have_a_series_of_their_own_for_each_legal_entity() -> None:
    notes = [
        credit_notes.void(invoice=rows.issued(owner), reason="x", by=STAFF)
        for owner in (two_sellers.tenant(), two_sellers.tenant(DOLLARS))
    ]

    assert [note.number for note in notes if note] == ["WP-CN-000001", "WP-INC-CN-000001"]
    assert [note.currency for note in notes if note] == ["EUR", "USD"]


def test_another_currency_in_the_document_is_found() -> None:
    owner = two_sellers.tenant(DOLLARS)
    invoice = issuing.issue(
        invoice=issuing.approve(invoice=rows.drafted(owner), by=STAFF), by=STAFF, now=AFTER_GRACE
    )
    made = {**document.loaded(invoice.document), "currency": "EUR"}
    invoice.document = document.canonical(made)

    assert not invoice_verification.verify(invoice=invoice, cells=[]).same
    assert selling.of_tenant(owner.pk).value == "wp-inc:USD"
