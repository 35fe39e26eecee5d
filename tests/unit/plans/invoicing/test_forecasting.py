"""A forecast is what the invoice becomes if everything goes on at its pace."""

from datetime import timedelta

import pytest

from plans.invoicing import forecasting, previewing
from plans.models import UsageCopy
from plans.rating.periods import Period
from tenants.models import AddressSpace
from tests.support.portal import rows

pytestmark = pytest.mark.django_db


def counted_until(moment: object) -> None:
    UsageCopy.objects.update(as_of=moment)


@pytest.fixture
def space() -> AddressSpace:
    """A space that is Active since the month began, on the Team plan."""
    world, month = rows.world(), rows.this_month()
    rows.subscribed_since(world.tenant, month)
    made = rows.active_space(world.tenant)
    AddressSpace.objects.filter(pk=made.pk).update(active_since=month)
    made.refresh_from_db()
    return made


def test_usage_goes_on_at_its_pace(space: AddressSpace) -> None:
    """After a tenth of the month, the forecast is the bill of a month with ten times the usage."""
    start = rows.this_month()
    month = Period(start, (start + timedelta(days=40)).replace(day=1))
    now = start + timedelta(seconds=month.seconds // 10)
    rows.used(rows.cell(space, "messages_in", 40_000_000, start))
    counted_until(now)

    forecast = forecasting.total_minor(space.tenant, now)

    rows.used(rows.cell(space, "messages_in", 400_000_000, start))
    last_second = month.ends_at - timedelta(seconds=1)
    whole = previewing.preview(space.tenant, last_second).total_minor
    assert forecast is not None
    assert abs(forecast - whole) <= 1  # the last second of the space's hours


def test_a_peak_does_not_grow_with_time(space: AddressSpace) -> None:
    start = rows.this_month()
    now = start + timedelta(days=3)
    rows.used(rows.cell(space, "peak_connections", 7, start))
    counted_until(now)
    with_peak = forecasting.total_minor(space.tenant, now)

    rows.used(rows.cell(space, "peak_connections", 0, start))
    counted_until(now)

    assert with_peak == forecasting.total_minor(space.tenant, now)


def test_the_first_day_has_no_forecast(space: AddressSpace) -> None:
    start = rows.this_month()
    assert forecasting.total_minor(space.tenant, start + timedelta(days=5)) is None  # no usage yet

    rows.used(rows.cell(space, "messages_in", 5, start))
    counted_until(start + timedelta(hours=23))

    assert forecasting.total_minor(space.tenant, start + timedelta(days=5)) is None


def test_before_a_forecast_the_least_price_has_the_hours_until_the_end(
    space: AddressSpace,
) -> None:
    start = rows.this_month()
    month = Period(start, (start + timedelta(days=40)).replace(day=1))
    preview = previewing.preview(space.tenant, start + timedelta(hours=1))

    least = forecasting.least_minor(space.tenant, preview)

    whole = previewing.preview(space.tenant, month.ends_at - timedelta(seconds=1)).total_minor
    assert preview.total_minor < least
    assert abs(least - whole) <= 1  # the last second of the space's hours
