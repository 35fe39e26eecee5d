"""Discounts, commitments and coupons end early, never behind an invoice priced with them."""

from datetime import timedelta
from decimal import Decimal

import pytest

from controlplane.core.errors import Invalid, Missing
from controlplane.core.models import AuditEvent
from plans.invoicing import discounting, ending
from plans.invoicing.discounting import CouponUsedUp, Reduction
from plans.invoicing.ending import TermsBilled
from plans.models import Commitment, Discount
from plans.rating.periods import Period
from tenants.models import Tenant
from tests.support.plans import billing_rows as rows
from tests.support.plans.billing_rows import ENDS_AT, STAFF, STARTS_AT

pytestmark = pytest.mark.django_db
IN_APRIL = STARTS_AT + timedelta(days=10)
IN_MAY = ENDS_AT + timedelta(days=10)
JUNE = ENDS_AT + timedelta(days=31)


def given(owner: Tenant) -> Discount:
    partner = Reduction("Partner", percent=Decimal(10))
    return discounting.give(tenant=owner, reduction=partner, by=STAFF, now=IN_APRIL)


def ended(owner: Tenant, row: Discount, **changes: bool) -> Discount:
    return ending.end_discount(
        tenant=owner, discount_id=row.pk, reason="over", by=STAFF, now=IN_MAY, **changes
    )


def test_a_discount_ends_with_the_running_month_and_only_once() -> None:
    owner = rows.tenant()
    row = given(owner)

    assert ended(owner, row).ends_at == JUNE
    assert ended(owner, row).ends_at == JUNE

    event = AuditEvent.objects.get(action="discount.end")
    assert (event.before["ends_at"], event.reason) == (None, "over")


def test_a_discount_that_ends_at_once_does_not_count_for_the_running_month() -> None:
    owner = rows.tenant()
    row = given(owner)

    assert ended(owner, row, at_once=True).ends_at == ENDS_AT

    # One that began this month never counts.
    other = discounting.give(
        tenant=owner, reduction=Reduction("May", percent=Decimal(1)), by=STAFF, now=IN_MAY
    )
    assert ended(owner, other, at_once=True).ends_at == other.starts_at


def test_what_an_invoice_of_the_month_gave_is_not_taken_back() -> None:
    owner = rows.tenant()
    row = given(owner)
    rows.drafted(owner)

    with pytest.raises(TermsBilled, match="2026-05-01"):
        ending.end_discount(
            tenant=owner, discount_id=row.pk, reason="x", by=STAFF, now=IN_APRIL, at_once=True
        )
    with pytest.raises(Missing):
        ending.end_discount(tenant=rows.tenant(), discount_id=row.pk, reason="x", by=STAFF)


def committed(owner: Tenant, span: Period | None = None) -> Commitment:
    return discounting.commit(
        tenant=owner, title="Deal", minimum_minor=9000, span=span or Period(STARTS_AT, JUNE),
        by=STAFF,
    )  # fmt: skip


def test_a_commitment_ends_inside_its_time_after_what_is_billed() -> None:
    owner = rows.tenant()
    row = committed(owner)
    rows.drafted(owner)

    for wrong in (JUNE + timedelta(seconds=1), STARTS_AT - timedelta(seconds=1)):
        with pytest.raises(Invalid):
            ending.end_commitment(
                tenant=owner, commitment_id=row.pk, reason="x", by=STAFF, ends_at=wrong
            )
    with pytest.raises(TermsBilled):
        ending.end_commitment(
            tenant=owner, commitment_id=row.pk, reason="x", by=STAFF, ends_at=IN_APRIL
        )
    for _ in range(2):
        found = ending.end_commitment(
            tenant=owner, commitment_id=row.pk, reason="x", by=STAFF, ends_at=IN_MAY
        )
        assert found.ends_at == IN_MAY
    assert AuditEvent.objects.filter(action="commitment.end").count() == 1
    with pytest.raises(Missing):
        ending.end_commitment(tenant=rows.tenant(), commitment_id=row.pk, reason="x", by=STAFF)


def test_by_default_a_commitment_ends_with_the_running_month_or_earlier_as_agreed() -> None:
    owner = rows.tenant()
    long = committed(owner, Period(STARTS_AT, JUNE + timedelta(days=90)))
    short = committed(owner, Period(STARTS_AT, IN_MAY))

    for row, ends_at in ((long, JUNE), (short, IN_MAY)):
        found = ending.end_commitment(
            tenant=owner, commitment_id=row.pk, reason="x", by=STAFF, now=IN_MAY
        )
        assert found.ends_at == ends_at


def test_nobody_redeems_an_ended_coupon() -> None:
    owner = rows.tenant()
    half = Reduction("Launch", percent=Decimal(50))
    discounting.create_coupon(code="LAUNCH", reduction=half, by=STAFF)

    first = ending.end_coupon(code=" launch ", reason="over", by=STAFF, now=IN_APRIL)
    again = ending.end_coupon(code="LAUNCH", reason="over", by=STAFF, now=IN_MAY)

    assert first.expires_at == again.expires_at == IN_APRIL
    with pytest.raises(CouponUsedUp):
        discounting.redeem(tenant=owner, code="LAUNCH", by=STAFF, now=IN_MAY)
    with pytest.raises(Missing):
        ending.end_coupon(code="NEVER", reason="x", by=STAFF)
