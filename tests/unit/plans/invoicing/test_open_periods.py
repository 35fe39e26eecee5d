"""Which of many periods had a plan."""

from datetime import timedelta

import pytest
from pytest_django import DjangoAssertNumQueries

from plans.invoicing import open_periods
from plans.rating.periods import Period
from tests.support.plans import billing_rows as rows
from tests.support.plans.billing_rows import ENDS_AT, STARTS_AT

pytestmark = pytest.mark.django_db


def test_each_period_is_compared_with_the_plans_of_its_own_tenant(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    early, late = rows.tenant(STARTS_AT), rows.tenant(ENDS_AT)
    april, may = Period(STARTS_AT, ENDS_AT), Period(ENDS_AT, ENDS_AT + timedelta(days=31))
    asked = [(owner.pk, period) for owner in (early, late) for period in (april, may)]

    with django_assert_num_queries(1):
        found = open_periods.with_plan(asked)

    assert found == {(early.pk, april), (early.pk, may), (late.pk, may)}
    assert open_periods.with_plan([]) == set()
