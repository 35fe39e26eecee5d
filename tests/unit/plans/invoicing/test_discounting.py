"""Two coupons never have one code, even if both are created at once. The audit has all terms."""

from decimal import Decimal

import pytest
from django.db.models import QuerySet

from controlplane.core.errors import Invalid
from controlplane.core.models import AuditEvent
from plans.invoicing import discounting
from plans.invoicing.discounting import CouponUse, Reduction
from plans.models import Coupon
from tests.support.plans import billing_rows as rows
from tests.support.plans.billing_rows import STAFF

pytestmark = pytest.mark.django_db
HALF = Reduction("Half", percent=Decimal(50))


def test_a_code_that_another_request_takes_meanwhile_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows.tenant()  # publishes the catalog
    discounting.create_coupon(code="LAUNCH", reduction=HALF, by=STAFF)
    # The other request has not committed yet when this one looks.
    monkeypatch.setattr(QuerySet, "exists", lambda _: False)

    with pytest.raises(Invalid) as refused:
        discounting.create_coupon(code=" launch", reduction=HALF, by=STAFF)

    assert refused.value.error_code == "coupon.code"
    assert Coupon.objects.count() == 1


def test_the_audit_has_the_terms_and_the_reason() -> None:
    owner = rows.tenant()
    tenth = Reduction("Launch", percent=Decimal("12.50"), meters=["plan_fee"], months=3)
    euros = Reduction("Fair", amount_minor=500)
    given = discounting.give(tenant=owner, reduction=tenth, by=STAFF, reason="They waited.")
    discounting.commit(
        tenant=owner, title="Deal", minimum_minor=900, span=None, by=STAFF, reason="the contract"
    )
    use = CouponUse(limit=7)
    discounting.create_coupon(code="FAIR", reduction=euros, by=STAFF, use=use, reason="the fair")
    redeemed = discounting.redeem(tenant=owner, code="FAIR", by=STAFF)

    written = {row.action: (row.after, row.reason) for row in AuditEvent.objects.all()}

    starts_at = given.starts_at.isoformat()
    assert given.ends_at is not None
    assert written["discount.give"] == (
        {"title": "Launch", "percent": "12.5", "meters": ["plan_fee"], "months": 3,
         "starts_at": starts_at, "ends_at": given.ends_at.isoformat()},
        "They waited.",
    )  # fmt: skip
    assert written["commitment.agree"] == (
        {"minimum_minor": 900, "currency": "EUR", "starts_at": starts_at, "ends_at": None},
        "the contract",
    )
    assert written["coupon.create"] == (
        {"title": "Fair", "amount_minor": 500, "currency": "EUR", "limit": 7}, "the fair"
    )  # fmt: skip
    assert written["coupon.redeem"] == (
        {"coupon": "FAIR", "title": "Fair", "amount_minor": 500, "currency": "EUR",
         "starts_at": redeemed.starts_at.isoformat()},
        "",
    )  # fmt: skip
