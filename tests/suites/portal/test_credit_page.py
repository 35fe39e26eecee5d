"""The page of credit and discounts, and the operator's pages of terms, tax and coupons."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from controlplane.console import audit_words
from controlplane.core.audit import SYSTEM
from controlplane.core.models import AuditEvent
from plans.catalog import selling
from plans.invoicing import discounting, granting, issuing, previewing
from plans.invoicing.discounting import Reduction
from plans.invoicing.granting import Wish
from plans.models import (
    Commitment,
    Coupon,
    CreditGrant,
    Discount,
    PlanSubscription,
    TaxExemption,
    TaxIdCheck,
)
from plans.rating.periods import Period
from tests.suites.portal.conftest import As
from tests.support.plans import two_sellers
from tests.support.plans.term_rows import VAT_ID
from tests.support.portal import rows
from tests.support.portal.rows import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def terms(world: World) -> str:
    """The path of the operator's page of the tenant's terms."""
    return f"/staff/tenants/{world.tenant.slug}/terms"


@pytest.fixture
def tax(world: World) -> str:
    """The path of the operator's page of the tenant's seller and tax."""
    return f"/staff/tenants/{world.tenant.slug}/tax"


def text_of(answer: Any) -> str:
    assert answer.status_code == 200, answer.content
    return " ".join(answer.content.decode().split())


def test_an_empty_page_says_what_to_do(world: World, as_: As) -> None:
    text = text_of(as_(world.owner).get(f"/t/{world.tenant.slug}/credit/"))

    for words in (
        "Nothing pays the next invoice in advance.",
        "A coupon gives one.",
        "you pay what the plan and its use cost",
        "To pay in advance, ask the operator.",
        "Nothing happened yet.",
        "If you have a certificate",
        "in EUR",
    ):
        assert words in text


def test_the_page_shows_credit_movements_commitment_trial_and_discount(
    world: World, as_: As
) -> None:
    now = timezone.now()
    wish = Wish("promotional", 2000, "launch-gift", "a gift", now + timedelta(days=30))
    granting.grant(tenant=world.tenant, wish=wish, by=SYSTEM)
    discounting.commit(
        tenant=world.tenant, title="Deal", minimum_minor=100_000, span=None, by=SYSTEM
    )
    partner = Reduction("Partner", percent=Decimal("12.5"), months=3)
    discounting.give(tenant=world.tenant, reduction=partner, by=SYSTEM)
    PlanSubscription.objects.filter(tenant=world.tenant).update(
        trial_ends_at=now + timedelta(days=3, hours=1)
    )

    text = text_of(as_(world.owner).get(f"/t/{world.tenant.slug}/credit/"))

    for words in (
        "20.00 EUR promotional", "launch-gift", "available", "Promotional credit launch-gift",
        "+20.00 EUR", "1,000.00 EUR", "and hours until now, the invoice adds", "Partner", "12.5 %",
        "4 days left",
    ):  # fmt: skip
        assert words in text, words


def test_the_overview_says_how_much_of_the_spend_fills_the_agreed_minimum(
    world: World, as_: As
) -> None:
    rows.active_space(world.tenant, "orders", "standard-small")
    home, says = f"/t/{world.tenant.slug}/", "to reach the agreed minimum"
    without = text_of(as_(world.owner).get(home))
    discounting.commit(
        tenant=world.tenant, title="Deal", minimum_minor=100_000, span=None, by=SYSTEM
    )

    text = text_of(as_(world.owner).get(home))

    document = previewing.preview(world.tenant).document
    (missing,) = [row["amount_minor"] for row in document["lines"] if row["kind"] == "commitment"]
    assert f"It includes {missing / 100:.2f} EUR {says}" in text
    assert says not in without


def test_before_the_issue_staff_read_what_credit_pays_and_what_is_left(
    world: World, as_: As
) -> None:
    draft = rows.drafted(world.tenant)
    page = f"/staff/invoices/{draft.pk}/"
    without = text_of(as_(world.staff).get(page))
    wish = Wish("promotional", 1000, "launch-gift", "a gift")
    granting.grant(tenant=world.tenant, wish=wish, by=SYSTEM)
    as_draft = text_of(as_(world.staff).get(page))
    approved = issuing.approve(invoice=draft, by=SYSTEM)
    as_approved = text_of(as_(world.staff).get(page))
    issued = issuing.issue(invoice=approved, by=SYSTEM)

    assert "The tenant has no credit that could pay it." in without
    left = f"{issued.payable_minor / 100:.2f}"
    assert issued.credit_minor == 1000
    for shown in (as_draft, as_approved):
        assert f"Issued now, credit pays 10.00 EUR of it, and {left} EUR are left to pay." in shown


def test_of_an_invoice_of_nothing_staff_read_that_nothing_is_to_be_paid(
    world: World, as_: As
) -> None:
    wish = Wish("promotional", 1000, "launch-gift", "a gift")
    granting.grant(tenant=world.tenant, wish=wish, by=SYSTEM)
    begins = rows.last_month().starts_at
    draft = rows.drafted(world.tenant, month=Period(begins, begins + timedelta(seconds=1)))

    assert draft.total_minor == 0
    assert "Nothing is to be paid." in text_of(as_(world.staff).get(f"/staff/invoices/{draft.pk}/"))


def test_after_an_early_close_the_page_says_what_was_charged_and_what_is_added(
    world: World, as_: As
) -> None:
    discounting.commit(
        tenant=world.tenant, title="Deal", minimum_minor=100_000, span=None, by=SYSTEM
    )
    begins, now = rows.this_month(), timezone.now()
    half = begins + (now.replace(microsecond=0) - begins) / 2
    rows.issued(world.tenant, month=Period(begins, half.replace(microsecond=0)))

    text = text_of(as_(world.owner).get(f"/t/{world.tenant.slug}/credit/"))

    lines = previewing.preview(world.tenant).document["lines"]
    (left,) = [line["amount_minor"] for line in lines if line["kind"] == "commitment"]
    assert "Earlier invoices of this month have charged" in text
    assert f"the invoice adds <strong>{left / 100:.2f} EUR</strong> before tax" in text


def test_terms_have_the_days_of_the_tenant_and_titles_of_meters(
    world: World, as_: As, terms: str
) -> None:
    world.tenant.billing_time_zone = "Europe/Berlin"
    world.tenant.save()
    tenth = Reduction("Launch", Decimal(10), meters=["connection_ms", "plan_fee"], months=3)
    winter = datetime(2026, 11, 20, tzinfo=UTC)
    discounting.give(tenant=world.tenant, reduction=tenth, by=SYSTEM, now=winter)

    own = text_of(as_(world.owner).get(f"/t/{world.tenant.slug}/credit/"))
    shown = text_of(as_(world.staff).get(terms))

    for text in (own, shown):
        assert "Connection time, Plan fee" in text
        assert "1 Nov 2026" in text
        assert "31 Jan 2027" in text
    assert "Steps of 64 KiB in" in shown
    assert "steps 64k" not in shown


def test_a_coupon_is_redeemed_once_and_its_refusal_is_in_the_form(world: World, as_: As) -> None:
    half = Reduction("Half the price", Decimal(50))
    discounting.create_coupon(code="LAUNCH", reduction=half, by=SYSTEM)
    client, path = as_(world.owner), f"/t/{world.tenant.slug}/credit/"

    done = client.post(path, {"code": "launch"}, follow=True)
    again = client.post(path, {"code": "launch"})

    assert "Redeemed: Half the price." in text_of(done)
    assert again.status_code == 409
    assert "redeemed this coupon before" in again.content.decode()
    assert Discount.objects.get().tenant == world.tenant


def test_staff_grant_credit_give_a_discount_and_agree_on_a_minimum(
    world: World, as_: As, terms: str
) -> None:
    client = as_(world.staff)
    day = (timezone.localdate() + timedelta(days=9)).isoformat()
    for body in (
        {"step": "grant", "kind": "prepaid", "amount": "12.50", "reference": "bank-1",
         "expires_on": day, "reason": "paid"},
        {"step": "discount", "title": "Partner", "percent": "10", "months": "2",
         "meters": ["plan_fee"], "reason": "a partner"},
        {"step": "commit", "title": "Deal", "amount": "150", "last_day": day,
         "reason": "the contract"},
    ):  # fmt: skip
        assert client.post(terms, body).status_code == 302, body

    assert CreditGrant.objects.get().amount_minor == 1250
    assert Discount.objects.get().meters == ["plan_fee"]
    agreed = Commitment.objects.get()
    assert (agreed.minimum_minor, agreed.ends_at is None) == (15_000, False)
    given = AuditEvent.objects.get(action="discount.give")
    assert (given.reason, given.after["percent"], given.after["months"]) == ("a partner", "10", 2)
    assert AuditEvent.objects.get(action="commitment.agree").reason == "the contract"
    (event,) = [text for text in audit_words.changes(given) if "plan" in text]
    assert event == "meters: plan_fee"
    assert "bank-1" in text_of(client.get(terms))


def test_staff_book_prepaid_credit_as_paid_back(world: World, as_: As, terms: str) -> None:
    client = as_(world.staff)
    before = text_of(client.get(terms))
    wish = Wish("prepaid", 1250, "bank-1", "paid")
    grant = granting.grant(tenant=world.tenant, wish=wish, by=SYSTEM)
    body = {"step": "pay_back_EUR", "credit": grant.pk, "reference": "back-1", "reason": "leaves"}

    form = text_of(client.get(terms))
    refused = client.post(terms, {**body, "amount": "12.51"})
    booked = client.post(terms, {**body, "amount": "12.50"})

    assert ("Pay prepaid credit" in before, "Pay prepaid credit in EUR back" in form) == (
        False,
        True,
    )
    assert "bank-1: 12.50 EUR" in form
    assert "Only 12.50 EUR of this credit can be paid back." in refused.content.decode()
    assert (refused.status_code, booked.status_code) == (409, 302)
    after = text_of(client.get(terms))
    assert "Prepaid credit bank-1 is paid back: back-1" in after
    assert "Pay prepaid credit in EUR back" not in after


def test_the_form_of_a_minimum_says_which_part_of_the_running_month_counts(
    world: World, as_: As, terms: str
) -> None:
    text = text_of(as_(world.staff).get(terms))

    assert "which counts from its first day even if the tenant&#x27;s plan began later" in text


def test_staff_end_a_discount_and_a_commitment(world: World, as_: As, terms: str) -> None:
    client = as_(world.staff)
    partner = Reduction("Partner", percent=Decimal(10))
    discount = discounting.give(tenant=world.tenant, reduction=partner, by=SYSTEM)
    deal = discounting.commit(
        tenant=world.tenant, title="Deal", minimum_minor=1, span=None, by=SYSTEM
    )

    for body in (
        {"step": "end_discount", "discount": discount.pk, "at_once": "on", "reason": "over"},
        {"step": "end_commitment", "commitment": deal.pk, "reason": "over"},
    ):
        assert client.post(terms, body).status_code == 302
    discount.refresh_from_db()
    deal.refresh_from_db()
    assert discount.ends_at == discount.starts_at
    assert deal.ends_at is not None
    assert "never counted" in text_of(client.get(terms))


def test_a_wrong_amount_is_refused_in_its_form_only(world: World, as_: As, terms: str) -> None:
    body = {"step": "grant", "kind": "prepaid", "amount": "1.005", "reference": "r", "reason": "x"}

    answer = as_(world.staff).post(terms, body)

    assert answer.status_code == 400
    assert answer.content.decode().count("at most 2 decimals") == 1
    assert not CreditGrant.objects.exists()
    both = {"step": "discount", "title": "x", "percent": "1", "amount": "1", "reason": "x"}
    assert as_(world.staff).post(terms, both).status_code == 422


def test_staff_set_and_end_an_exemption_and_record_the_register(
    world: World, as_: As, tax: str
) -> None:
    client = as_(world.staff)
    world.tenant.billing_country, world.tenant.tax_id = "DE", VAT_ID
    world.tenant.save()
    certificate = {
        "step": "exempt", "category": "E", "certificate": "2026-0815", "text": "Section 4",
        "starts_on": "2026-01-01",
    }  # fmt: skip

    assert client.post(tax, certificate).status_code == 302
    row = TaxExemption.objects.get()
    shown = text_of(client.get(tax))
    end = {"step": "end_exemption", "exemption": row.pk, "ends_on": "2026-02-01", "reason": "x"}
    assert client.post(tax, end).status_code == 302
    answer = {"step": "answer", "is_registered": "no", "reference": "WAPI-1"}
    assert client.post(tax, answer).status_code == 302

    row.refresh_from_db()
    assert "2026-0815" in shown
    assert str(row.ends_on) == "2026-02-01"
    assert TaxIdCheck.objects.get().status == "refused"
    text = text_of(client.get(tax))
    assert "at the register: WAPI-1" in text
    own = text_of(as_(world.owner).get(f"/t/{world.tenant.slug}/credit/"))
    assert "does not know it" in own
    assert world.staff.email not in own


@pytest.mark.parametrize(
    ("regime", "said", "of_id", "of_answer"),
    [
        ("flat", "19 %, unless a certificate exempts the buyer",
         ". Invoices charge 19 % tax with any tax id, and without.",
         "The answer changes no tax: invoices charge 19 % with any tax id, and without"),
        ("vat", "The countries of seller and buyer, the tax id and certificates decide",
         ", so invoices charge VAT.", "If it does not know the id, invoices charge VAT."),
    ],
)  # fmt: skip
def test_pages_say_which_tax_is_in_force(
    world: World, as_: As, tax: str, regime: str, said: str, of_id: str, of_answer: str
) -> None:
    two_sellers.publish(key="waypost", tax_regime=regime)
    world.tenant.billing_country, world.tenant.tax_id = "DE", "DE12"
    world.tenant.tax_id_status = "invalid"
    world.tenant.save()

    shown = text_of(as_(world.staff).get(tax))

    assert said in shown
    assert f"record its answer. {of_answer}" in shown
    assert "None: invoices charge the tax above." in shown
    words = "It does not have the form of a VAT id of the billing country" + of_id
    assert words in shown
    assert words in text_of(as_(world.owner).get(f"/t/{world.tenant.slug}/settings/"))


def test_with_several_sellers_staff_choose_one_and_prices_follow(
    world: World, as_: As, tax: str, terms: str
) -> None:
    two_sellers.publish(key="waypost")
    selling.assign(world.tenant.pk, selling.offer("", ""), "x")
    PlanSubscription.objects.filter(tenant=world.tenant).update(
        plan=two_sellers.newest_plan("team")
    )
    client = as_(world.staff)

    change = {"step": "seller", "offer": "wp-inc:USD", "reason": "the contract"}
    assert client.post(tax, change).status_code == 302

    assert "Waypost Test Inc. invoices" in text_of(client.get(terms))
    assert "98.00 USD" in text_of(as_(world.owner).get(f"/t/{world.tenant.slug}/settings/plan"))


def test_coupons_are_created_and_ended(world: World, as_: As) -> None:
    client = as_(world.staff)
    assert "Create the first one below" in text_of(client.get("/staff/coupons/"))

    body = {
        "step": "create", "code": "launch", "title": "Launch", "amount": "5",
        "coupon_currency": "EUR", "months": "3", "limit": "100", "reason": "the fair",
    }  # fmt: skip
    assert client.post("/staff/coupons/", body).status_code == 302
    row = Coupon.objects.get()
    assert (row.code, row.amount_minor, row.currency, row.limit) == ("LAUNCH", 500, "EUR", 100)
    assert "0 of 100" in text_of(client.get("/staff/coupons/"))
    end = {"step": "end", "code": "LAUNCH", "reason": "over"}
    assert client.post("/staff/coupons/", end).status_code == 302
    assert "ended" in text_of(client.get("/staff/coupons/"))


def test_sign_up_shows_prices_of_the_chosen_seller(client: Any, settings: Any) -> None:
    two_sellers.publish()

    plain = text_of(client.get("/signup"))
    dollars = text_of(client.get("/signup?offer=wp-inc:USD"))
    landing = text_of(client.get("/?offer=wp:CHF"))

    assert "49.00 EUR a month" in plain
    assert "98.00 USD a month" in dollars
    assert "Waypost Test Inc., in USD" in plain
    assert "147.00 CHF" in landing
