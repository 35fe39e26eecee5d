"""Two coupons never have one code, even if both are created at once."""

from decimal import Decimal

import pytest
from django.db.models import QuerySet

from controlplane.core.errors import Invalid
from plans.invoicing import discounting
from plans.invoicing.discounting import Reduction
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
