"""What commitments and trials come to now, worked by hand."""

from datetime import datetime, timedelta
from decimal import Decimal

import pytest

from plans.catalog import publishing
from plans.invoicing import (
    agreements,
    discounting,
    invoice_closing,
    issuing,
    plan_change_preview,
    previewing,
)
from plans.invoicing.discounting import Reduction
from plans.models import Invoice, PlanSubscription
from plans.rating.periods import Period
from plans.usage import reading
from tenants.models import Tenant
from tests.support.plans import billing_rows as rows
from tests.support.plans import two_sellers
from tests.support.plans.billing_rows import AFTER_GRACE, ENDS_AT, STAFF, STARTS_AT
from tests.support.plans.two_sellers import DOLLARS

pytestmark = pytest.mark.django_db
MIDDLE = STARTS_AT + timedelta(days=15)


def commit(owner: Tenant, minimum: int, starts_at: timedelta = timedelta(0)) -> None:
    span = Period(STARTS_AT + starts_at, ENDS_AT)
    discounting.commit(tenant=owner, title="Deal", minimum_minor=minimum, span=span, by=STAFF)


def test_the_progress_is_the_month_after_discounts_and_the_rest_is_the_true_up() -> None:
    owner = rows.tenant()
    commit(owner, 9000)
    commit(owner, 3000, timedelta(days=15))  # for half of the month: 15.00
    partner = Reduction("Partner", percent=Decimal(10))
    discounting.give(tenant=owner, reduction=partner, by=STAFF, now=STARTS_AT)

    found = agreements.progress(owner, MIDDLE)

    # The fee of 49.00 less 10 %; 90.00 and half of 30.00 are agreed.
    assert found is not None
    assert (found.minimum_minor, found.reached_minor, found.missing_minor) == (10500, 4410, 6090)
    assert (found.percent, found.currency, found.titles) == (42, "EUR", ["Deal", "Deal"])


def drafted_until_the_middle(owner: Tenant) -> Invoice:
    invoice, _ = invoice_closing.request_close(
        tenant=owner, starts_at=STARTS_AT, ends_at=MIDDLE, by=STAFF, now_forced=True, now=MIDDLE
    )
    evidence = rows.evidence(reading.cells(owner.pk, STARTS_AT, MIDDLE), as_of=MIDDLE)
    return invoice_closing.close(invoice=invoice, evidence=evidence, by=STAFF)


def line_of_the_preview(owner: Tenant, at: datetime) -> int:
    lines = previewing.preview(owner, at).document["lines"]
    return sum(line["amount_minor"] for line in lines if line["kind"] == "commitment")


def test_the_rest_of_a_minimum_is_the_line_of_the_preview_after_an_early_close() -> None:
    owner = rows.tenant()
    commit(owner, 60_000)
    drafted = drafted_until_the_middle(owner)
    # Half of the fee, and half of the minimum: 300.00 - 24.50 is charged already.
    assert drafted.net_minor == 30_000

    later = MIDDLE + timedelta(days=1)
    found = agreements.progress(owner, later)

    assert found is not None
    # The month's minimum less its fee is 551.00, of which 275.50 is charged.
    assert (found.reached_minor, found.charged_minor) == (4900, 27_550)
    assert found.missing_minor == line_of_the_preview(owner, later) == 27_550
    approved = issuing.approve(invoice=drafted, by=STAFF)
    issuing.issue(invoice=approved, by=STAFF, now=AFTER_GRACE)
    assert agreements.progress(owner, later) == found


def test_a_minimum_that_use_reaches_after_an_early_close_takes_its_rest_back() -> None:
    owner = rows.tenant()
    commit(owner, 6000)
    drafted_until_the_middle(owner)  # 30.00 - 24.50
    rows.space(owner, active_since=MIDDLE)
    later = MIDDLE + timedelta(days=14)

    found = agreements.progress(owner, later)

    # 14 days at 0.02 an hour are 6.72, so the month has cost 55.72.
    assert found is not None
    assert (found.reached_minor, found.charged_minor) == (5572, 550)
    assert found.missing_minor == line_of_the_preview(owner, later) == -122
    assert found.taken_back_minor == 122


def test_a_period_that_is_being_closed_counts_with_the_use_known_now() -> None:
    owner = rows.tenant()
    commit(owner, 60_000)
    drafted = drafted_until_the_middle(owner)
    later = MIDDLE + timedelta(days=1)
    found, total = agreements.progress(owner, later), previewing.preview(owner, later).total_minor
    business = publishing.plan("business")
    change = plan_change_preview.price(owner, business, later).running

    Invoice.objects.filter(pk=drafted.pk).update(state=Invoice.State.CLOSING, document="")

    assert agreements.progress(owner, later) == found
    assert previewing.preview(owner, later).total_minor == total
    assert plan_change_preview.price(owner, business, later).running == change


def test_a_reached_minimum_adds_nothing() -> None:
    owner = rows.tenant()
    commit(owner, 4900)

    found = agreements.progress(owner, MIDDLE)

    assert found is not None
    assert (found.missing_minor, found.percent) == (0, 100)


def test_without_a_commitment_or_a_plan_there_is_no_progress() -> None:
    owner = rows.tenant()
    assert agreements.progress(owner, MIDDLE) is None
    PlanSubscription.objects.all().delete()
    assert agreements.progress(owner, MIDDLE) is None


def test_a_trial_says_how_long_it_lasts_and_what_comes_then() -> None:
    owner = two_sellers.tenant(DOLLARS)
    PlanSubscription.objects.update(trial_ends_at=STARTS_AT + timedelta(days=20))

    found = agreements.trial(owner, MIDDLE + timedelta(hours=1))

    assert found is not None
    assert (found.plan, found.currency, found.days_left) == ("Team", "USD", 5)
    # 98.00 dollars, and 10 of 30 days of it.
    assert (found.monthly_fee_minor, found.first_fee_minor) == (9800, 3266)
    assert agreements.trial(owner, STARTS_AT + timedelta(days=20)) is None
    assert agreements.trial(two_sellers.tenant(), MIDDLE) is None
