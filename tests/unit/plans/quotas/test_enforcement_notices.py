"""Alerts of quotas write events in their own transaction, once for each time they are raised."""

from datetime import timedelta

import pytest

from plans.models import QuotaAlert
from tenants.notifications import outbox
from tenants.notifications.models import Event
from tests.support.plans import billing_rows as rows
from tests.support.plans import usage_tails
from tests.support.plans.billing_rows import STARTS_AT

pytestmark = pytest.mark.django_db
NOW = STARTS_AT + timedelta(days=5)


def evaluate(tenant_id: str, sent: int, minutes: int = 0) -> None:
    now = NOW + timedelta(minutes=minutes)
    counts = {"messages_in": sent, "messages_out": 0, "connection_ms": 0}
    usage_tails.evaluate(tenant_id, counts, now)


def levels() -> list[int]:
    return [event.fields["level_percent"] for event in Event.objects.order_by("occurred_at")]


def test_the_highest_new_level_is_reported_once_and_again_after_it_was_lifted() -> None:
    tenant = rows.tenant(to=rows.plan("free"))
    rows.space(tenant)
    evaluate(tenant.id, 850)
    evaluate(tenant.id, 860, 1)
    assert levels() == [80]
    evaluate(tenant.id, 700, 2)
    evaluate(tenant.id, 1000, 3)

    # Three alerts are raised again at once. People get one mail, about what holds now.
    assert levels() == [80, 100]
    assert QuotaAlert.objects.filter(lifted_at__isnull=True).count() == 3
    full = Event.objects.get(fields__level_percent=100)
    assert full.fields["used"] == full.fields["limit"] == 1000
    assert full.fields["consequence"].startswith("Clients can no longer send")


def test_an_alert_whose_event_fails_is_not_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    tenant = rows.tenant(to=rows.plan("free"))

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(outbox, "write", killed)
    with pytest.raises(KeyboardInterrupt):
        evaluate(tenant.id, 850)

    assert not QuotaAlert.objects.exists()
