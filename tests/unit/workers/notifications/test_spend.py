"""The budget warns at its levels, once for each, and one tenant's defect stops nobody."""

from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.utils import timezone
from structlog.testing import capture_logs

from plans.invoicing import previewing
from plans.models import PlanSubscription
from tenants.actions import notification_preferences
from tenants.models import Tenant
from tenants.notifications.models import Event
from tests.support import domain
from workers.notifications import spend

pytestmark = pytest.mark.django_db


@pytest.fixture
def spent(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """What each tenant has spent, by id; a tenant that is missing cannot be priced."""
    amounts: dict[str, int] = {}
    really = previewing.preview

    def preview(tenant: Tenant, now: datetime) -> Any:
        made = really(tenant, now)
        return SimpleNamespace(
            document=made.document, period=made.period, total_minor=amounts[tenant.pk]
        )

    monkeypatch.setattr(previewing, "preview", preview)
    return amounts


def test_the_highest_level_is_reported_once(cast: domain.Cast, spent: dict[str, int]) -> None:
    now = timezone.now()
    for tenant in (cast.tenant, cast.other):
        notification_preferences.set_budget(tenant=tenant, amount_minor=10_000, by=cast.by)
    for amount in (4999, 5000, 5100, 8000, 12_000, 13_000):
        spent[cast.tenant.pk] = amount
        with capture_logs() as logs:
            spend.watch(now)
        assert [log["tenant"] for log in logs] == [cast.other.pk]  # it cannot be priced

    events = Event.objects.order_by("id").order_by("fields__level_percent")
    assert [event.fields["level_percent"] for event in events] == [50, 80, 100]
    assert events[0].fields["spent"] == "50.00 EUR"
    assert events[0].fields["budget"] == "100.00 EUR"
    assert {event.tenant for event in events} == {cast.tenant}
    notification_preferences.set_budget(tenant=cast.tenant, amount_minor=26_000, by=cast.by)
    spend.watch(now)
    assert Event.objects.count() == 4


def test_a_tenant_whose_plan_has_ended_is_no_error(cast: domain.Cast) -> None:
    now = timezone.now()
    notification_preferences.set_budget(tenant=cast.tenant, amount_minor=10_000, by=cast.by)
    PlanSubscription.objects.filter(tenant=cast.tenant).update(
        starts_at=now - timedelta(days=400), ends_at=now - timedelta(days=300)
    )

    with capture_logs() as logs:
        spend.watch(now)

    assert logs == []
