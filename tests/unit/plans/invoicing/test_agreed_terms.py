"""Discounts, coupons, trials, commitments, credit and tax: from rows to a verified invoice."""

import json
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from controlplane.core.errors import Invalid, Missing
from plans.catalog import parsing, publishing
from plans.invoicing import (
    agreed_terms,
    discounting,
    document,
    granting,
    invoice_verification,
    rendering,
)
from plans.invoicing.agreed_terms import Agreed
from plans.invoicing.discounting import CouponRedeemed, CouponUse, CouponUsedUp, Reduction
from plans.invoicing.granting import ReferenceReused, Wish
from plans.ledger import grants, posting
from plans.models import Commitment, CreditUse, Discount, Invoice, PlanSubscription, TaxExemption
from plans.rating.credits import PREPAID, PROMOTIONAL
from plans.rating.periods import Period, month_of
from tenants.models import Tenant
from tests.support.plans import billing_rows as rows
from tests.support.plans.billing_rows import AFTER_GRACE, ENDS_AT, STAFF, STARTS_AT

pytestmark = pytest.mark.django_db
IN_APRIL = STARTS_AT + timedelta(days=9)


def made(owner: Tenant) -> dict[str, Any]:
    """Return the document of the tenant's issued invoice of April, which verifies."""
    invoice = rows.issued(owner)
    found = invoice_verification.verify(invoice=invoice, cells=[])
    assert found.same, found.differences
    return document.loaded(invoice.document)


def amounts(of: dict[str, Any], kind: str) -> list[int]:
    return [line["amount_minor"] for line in of["lines"] if line["kind"] == kind]


def test_discounts_apply_percent_first_then_amount_and_end() -> None:
    owner = rows.tenant()
    for reduction in (
        Reduction("Welcome", amount_minor=400),
        Reduction("Partner", percent=Decimal(10), months=1),
        Reduction("Fee only", percent=Decimal(50), meters=["plan_fee"], months=1),
    ):
        discounting.give(tenant=owner, reduction=reduction, by=STAFF, now=IN_APRIL)

    found = made(owner)

    # 49.00 - 10 % = 44.10; 50 % off the fee: 22.05; 4.00 off.
    assert sorted(amounts(found, "discount")) == [-2205, -490, -400]
    assert found["net_minor"] == 4900 - 490 - 2205 - 400
    assert "Partner" in rendering.html(found)


def test_a_discount_of_ended_months_does_not_count() -> None:
    owner = rows.tenant(subscribed_at=STARTS_AT - timedelta(days=60))
    gone = Reduction("Old", percent=Decimal(10), months=1)
    discounting.give(tenant=owner, reduction=gone, by=STAFF, now=STARTS_AT - timedelta(days=40))

    assert amounts(made(owner), "discount") == []


@pytest.mark.parametrize(
    "zone_name", ["UTC", "Europe/Berlin", "America/New_York", "Pacific/Kiritimati", "Etc/GMT+12"]
)
def test_a_discount_keeps_its_months_in_another_time_zone(zone_name: str) -> None:
    """It was given while the billing months were those of UTC, which new organizations have."""
    given = Discount(
        title="Partner",
        percent=Decimal(10),
        starts_at=STARTS_AT,
        ends_at=STARTS_AT + timedelta(days=61),
    )  # April and May
    agreed = Agreed([given], [], [])
    months = [month_of(STARTS_AT + timedelta(days=days), zone_name) for days in (-15, 15, 45, 75)]

    counted = [bool(agreed_terms.of_month(agreed, month, "EUR").discounts) for month in months]

    assert counted == [False, True, True, False]


def test_a_coupon_is_redeemed_once_up_to_its_limit_and_before_it_expires() -> None:
    first, second, third = rows.tenant(), rows.tenant(), rows.tenant()
    half = Reduction("Launch", percent=Decimal(50), months=3)
    use = CouponUse(limit=2, expires_at=ENDS_AT)
    discounting.create_coupon(code="launch", reduction=half, use=use, by=STAFF)

    discounting.redeem(tenant=first, code=" Launch ", by=STAFF, now=IN_APRIL)
    with pytest.raises(CouponRedeemed):
        discounting.redeem(tenant=first, code="LAUNCH", by=STAFF, now=IN_APRIL)
    with pytest.raises(CouponUsedUp):
        discounting.redeem(tenant=second, code="LAUNCH", by=STAFF, now=ENDS_AT)
    discounting.redeem(tenant=second, code="LAUNCH", by=STAFF, now=IN_APRIL)
    with pytest.raises(CouponUsedUp):
        discounting.redeem(tenant=third, code="LAUNCH", by=STAFF, now=IN_APRIL)
    with pytest.raises(Missing):
        discounting.redeem(tenant=third, code="NEVER", by=STAFF)
    with pytest.raises(Invalid):
        discounting.create_coupon(code="LAUNCH", reduction=half, by=STAFF)

    given = first.discounts.get()
    assert given.starts_at == STARTS_AT
    assert given.ends_at is not None
    assert (given.ends_at.month, given.ends_at.day) == (7, 1)
    assert made(first)["net_minor"] == 2450


@pytest.mark.parametrize(
    "wrong",
    [
        Reduction("x"),
        Reduction("x", Decimal(5), 5),
        Reduction("x", Decimal(101)),
        Reduction("x", amount_minor=0),
        Reduction(" ", Decimal(5)),
        Reduction("x", Decimal(5), meters=["nothing"]),
        Reduction("x", Decimal(5), months=0),
    ],
)
def test_a_wrong_discount_is_refused(wrong: Reduction) -> None:
    with pytest.raises(Invalid):
        discounting.give(tenant=rows.tenant(), reduction=wrong, by=STAFF)


def test_a_commitment_is_trued_up_for_its_part_of_the_month() -> None:
    owner = rows.tenant()
    span = Period(STARTS_AT + timedelta(days=15), ENDS_AT + timedelta(days=300))
    discounting.commit(tenant=owner, title="Yearly deal", minimum_minor=20_000, span=span, by=STAFF)

    found = made(owner)

    # Half of the month: 100.00 are agreed, 49.00 are the fee.
    assert amounts(found, "commitment") == [5100]
    assert found["net_minor"] == 10_000


def test_a_minimum_from_the_first_of_the_month_is_full_although_the_plan_began_later() -> None:
    owner = rows.tenant(subscribed_at=STARTS_AT + timedelta(days=27))
    span = Period(STARTS_AT, ENDS_AT + timedelta(days=300))
    discounting.commit(tenant=owner, title="Deal", minimum_minor=20_000, span=span, by=STAFF)

    assert made(owner)["net_minor"] == 20_000


def test_a_discount_that_rounds_to_nothing_has_no_line() -> None:
    owner = rows.tenant()
    tiny = Reduction("Tiny", percent=Decimal("0.01"), meters=["plan_fee"])
    discounting.give(tenant=owner, reduction=tiny, by=STAFF, now=IN_APRIL)

    found = made(owner)

    assert amounts(found, "discount") == []
    assert found["net_minor"] == 4900


def test_a_trial_charges_no_fee_until_it_ends() -> None:
    owner = rows.tenant()
    PlanSubscription.objects.update(trial_ends_at=STARTS_AT + timedelta(days=6))

    found = made(owner)

    assert found["net_minor"] == 4900 * 24 // 30
    assert "free trial of 518,400 seconds" in rendering.html(found)


def test_credit_burns_promotional_first_then_the_earliest_expiry() -> None:
    owner = rows.tenant()
    give(owner, PREPAID, 3000, "bank-1")
    give(owner, PROMOTIONAL, 1000, "gift-late", AFTER_GRACE + timedelta(days=90))
    give(owner, PROMOTIONAL, 2000, "gift-soon", AFTER_GRACE + timedelta(days=5))
    give(owner, PROMOTIONAL, 9000, "gift-gone", AFTER_GRACE - timedelta(days=5))

    found = made(owner)

    assert found["total_minor"] == 5831
    assert [(row["kind"], row["used_minor"]) for row in found["credit"]["grants"]] == [
        (PROMOTIONAL, 2000),
        (PROMOTIONAL, 1000),
        (PREPAID, 2831),
    ]
    assert found["payable_minor"] == 0
    invoice = Invoice.objects.get()
    assert invoice.state == Invoice.State.PAID
    assert posting.balance(owner.pk, grants.account(PREPAID, "wp"), "EUR") == -169
    assert "Promotional credit" in rendering.html(found)


def test_what_expires_is_booked_once() -> None:
    owner = rows.tenant()
    give(owner, PREPAID, 3000, "bank-1", AFTER_GRACE + timedelta(days=5))

    granting.expire(by=STAFF, now=AFTER_GRACE + timedelta(days=4))
    assert not CreditUse.objects.exists()
    for _ in range(2):
        granting.expire(by=STAFF, now=AFTER_GRACE + timedelta(days=5))

    assert CreditUse.objects.get().amount_minor == 3000
    assert posting.balance(owner.pk, posting.BREAKAGE, "EUR") == -3000
    assert made(owner)["payable_minor"] == 5831


def test_granting_is_idempotent_by_its_reference() -> None:
    owner = rows.tenant()
    first, again = (give(owner, PREPAID, 3000, "bank-1") for _ in range(2))

    assert first == again
    with pytest.raises(ReferenceReused):
        give(owner, PREPAID, 3001, "bank-1")
    with pytest.raises(Invalid):
        give(owner, PREPAID, 0, "bank-2")


def give(owner: Tenant, kind: str, amount: int, reference: str, expires_at: Any = None) -> Any:
    wish = Wish(kind, amount, reference, "agreed", expires_at)
    return granting.grant(tenant=owner, wish=wish, by=STAFF, now=IN_APRIL)


def under_vat() -> None:
    """Publish the test catalog with a seller that is taxed by the countries of both parties."""
    content = json.loads(rows.CATALOG)
    content["seller"]["tax_regime"] = "vat"
    publishing.publish(parsing.parse(json.dumps(content)), by=STAFF)


@pytest.mark.parametrize(
    ("country", "tax_id", "percent", "note"),
    [
        ("DE", "DE136695976", "19", ""),
        ("FR", "", "20", ""),
        ("FR", "FR40303265045", "0", "Reverse charge: Article 196 of Directive 2006/112/EC"),
        ("US", "", "0", "Articles 44 and 59"),
    ],
)
def test_a_seller_under_vat_taxes_by_country(
    country: str, tax_id: str, percent: str, note: str
) -> None:
    owner = rows.tenant(billing_country=country, tax_id=tax_id)
    under_vat()

    found = made(owner)

    (tax,) = found["taxes"]
    assert tax["percent"] == percent
    assert note in tax.get("note", "")
    assert note in rendering.html(found)
    assert found["manifest"]["tax"]["percent"] == percent


def test_a_tenant_that_moves_changes_no_issued_invoice() -> None:
    owner = rows.tenant(billing_country="FR", tax_id="FR40303265045")
    under_vat()
    invoice = rows.issued(owner)
    Tenant.objects.update(billing_country="DE", tax_id="", tax_id_status="refused")
    TaxExemption.objects.create(
        tenant=owner, category="E", certificate="1", text="Section 4",
        starts_on=STARTS_AT.date(), set_by="x",
    )  # fmt: skip
    Commitment.objects.create(
        tenant=owner, title="Later", minimum_minor=9**6, currency="EUR", starts_at=STARTS_AT,
        created_by="x",
    )  # fmt: skip

    assert invoice_verification.verify(invoice=invoice, cells=[]).same


def test_usage_in_a_gap_between_plans_holds_the_invoice() -> None:
    owner = rows.tenant()
    gap = Period(STARTS_AT + timedelta(days=5, minutes=7), STARTS_AT + timedelta(days=6, minutes=7))
    first = PlanSubscription.objects.get()
    PlanSubscription.objects.update(ends_at=gap.starts_at)
    PlanSubscription.objects.create(tenant=owner, plan=first.plan, starts_at=gap.ends_at)
    shop = rows.space(owner)
    lasts = timedelta(minutes=15)
    begins = gap.ends_at - timedelta(minutes=7)  # the bucket in which the second plan began
    paid = [
        rows.cell(shop, "messages_in", 5, at=at, address="orders")
        for at in (gap.starts_at - timedelta(minutes=7), begins)
    ]
    unpaid = rows.cell(shop, "messages_in", 5, at=begins - lasts, address="orders")

    held = rows.drafted(owner, rows.used(*paid, unpaid))

    assert held.state == Invoice.State.HELD
    assert [reason["code"] for reason in held.held_reasons] == ["usage.without_plan"]
    assert "only be corrected in the database" in held.held_reasons[0]["message"]


def test_a_gap_without_usage_is_billed_by_neither_plan() -> None:
    owner = rows.tenant()
    first = PlanSubscription.objects.get()
    PlanSubscription.objects.update(ends_at=STARTS_AT + timedelta(days=10))
    PlanSubscription.objects.create(
        tenant=owner, plan=first.plan, starts_at=STARTS_AT + timedelta(days=20)
    )

    found = made(owner)

    assert found["net_minor"] == sum(amounts(found, "fee")) == 3267  # 49.00 x 20 / 30


def test_a_seller_under_vat_needs_a_country_of_the_table() -> None:
    content = json.loads(rows.CATALOG)
    content["seller"] |= {"tax_regime": "vat", "country": "US"}

    with pytest.raises(Invalid, match="table of VAT rates lacks"):
        parsing.parse(json.dumps(content))


def test_new_fields_at_their_default_make_no_new_catalog() -> None:
    made = parsing.canonical(rows.CATALOG)

    assert "tax_regime" not in made["seller"]
    assert all("trial_days" not in plan for plan in made["plans"].values())
