"""What commitments and trials come to now, worked by hand."""

from datetime import timedelta
from decimal import Decimal

import pytest

from plans.invoicing import agreements, discounting, invoice_closing, issuing
from plans.invoicing.discounting import Reduction
from plans.models import PlanSubscription
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


def test_an_invoice_of_the_month_counts_but_not_the_true_up_that_it_charged() -> None:
    owner = rows.tenant()
    commit(owner, 60_000)
    invoice, _ = invoice_closing.request_close(
        tenant=owner, starts_at=STARTS_AT, ends_at=MIDDLE, by=STAFF, now_forced=True, now=MIDDLE
    )
    evidence = rows.evidence(reading.cells(owner.pk, STARTS_AT, MIDDLE), as_of=MIDDLE)
    drafted = invoice_closing.close(invoice=invoice, evidence=evidence, by=STAFF)
    # Half of the fee, and half of the minimum: 300.00 - 24.50 is charged already.
    assert drafted.net_minor == 30_000

    found = agreements.progress(owner, MIDDLE + timedelta(days=1))

    assert found is not None
    assert (found.reached_minor, found.missing_minor) == (4900, 55_100)
    approved = issuing.approve(invoice=drafted, by=STAFF)
    issuing.issue(invoice=approved, by=STAFF, now=AFTER_GRACE)
    again = agreements.progress(owner, MIDDLE + timedelta(days=1))
    assert again == found


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
