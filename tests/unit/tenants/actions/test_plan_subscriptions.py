"""Moving to another plan: what fits, what is refused, what is kept."""

from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks

from controlplane.core.audit import SYSTEM
from controlplane.core.errors import Conflict, Invalid, QuotaExceeded
from controlplane.core.models import AuditEvent
from plans.catalog import parsing, publishing
from plans.models import PlanSubscription
from tenants.actions import plan_subscriptions
from tests.support import domain
from tests.support.domain import Cast

pytestmark = pytest.mark.django_db


def change(cast: Cast, plan_key: str) -> PlanSubscription:
    return plan_subscriptions.change(tenant=cast.tenant, plan_key=plan_key, by=cast.by)


def test_change_ends_one_subscription_where_the_next_begins(cast: Cast) -> None:
    opened = change(cast, "business")

    ended = cast.tenant.plan_subscriptions.get(ends_at__isnull=False)
    assert (ended.plan.key, opened.plan.key) == ("team", "business")
    assert ended.ends_at == opened.starts_at
    event = AuditEvent.objects.get(action="plan_subscription.change")
    assert (event.before, event.after) == ({"plan": "team"}, {"plan": "business"})


def test_change_to_the_same_version_changes_nothing(cast: Cast) -> None:
    present = cast.tenant.plan_subscriptions.get()

    assert change(cast, "team") == present
    assert not AuditEvent.objects.filter(action="plan_subscription.change").exists()


def test_change_to_the_same_plan_takes_its_newest_version(cast: Cast) -> None:
    dearer = publishing.default_yaml().replace("monthly_fee_minor: 4900", "monthly_fee_minor: 5900")
    publishing.publish(parsing.parse(dearer), by=SYSTEM)

    assert change(cast, "team").plan.version == 2


def test_change_at_the_very_instant_of_the_last_one_keeps_spans_apart(cast: Cast) -> None:
    later = timezone.now() + timedelta(hours=1)
    cast.tenant.plan_subscriptions.update(starts_at=later)

    opened = change(cast, "business")

    assert opened.starts_at == later + timedelta(microseconds=1)


def test_change_enqueues_the_period_quotas(
    cast: Cast,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    sent = []
    monkeypatch.setattr(
        "controlplane.core.enqueue.current_app.send_task",
        lambda task, **options: sent.append((task, options["kwargs"])),
    )

    with django_capture_on_commit_callbacks(execute=True):
        change(cast, "business")

    assert sent == [("workers.enforce_quotas", {"tenant_id": cast.tenant.pk})]


def test_change_refuses_a_plan_that_is_too_small(cast: Cast) -> None:
    for _ in range(3):
        domain.space(cast.tenant)

    with pytest.raises(QuotaExceeded, match="allows 2 address spaces and you have 3") as refusal:
        change(cast, "free")

    assert refusal.value.fields["resource"] == "spaces"
    assert cast.tenant.plan_subscriptions.get().plan.key == "team"


def test_change_lets_an_override_of_staff_count(cast: Cast) -> None:
    for _ in range(3):
        domain.space(cast.tenant)
    domain.limit(cast.tenant, "spaces", 5)

    assert change(cast, "free").plan.key == "free"


def test_change_refuses_a_plan_without_what_is_in_use(cast: Cast) -> None:
    domain.space(cast.tenant, size="medium")

    with pytest.raises(Conflict, match="does not include standard-medium") as refusal:
        change(cast, "free")

    assert refusal.value.error_code == "plan_subscription.lacks_plans"
    assert refusal.value.fields["lacking"] == ["standard-medium"]


def test_change_lets_what_is_gone_rest(cast: Cast) -> None:
    domain.gone(domain.space(cast.tenant, size="medium"))

    assert change(cast, "free").plan.key == "free"


def test_change_refuses_an_unknown_plan(cast: Cast) -> None:
    with pytest.raises(Invalid, match="Choose one of"):
        change(cast, "platinum")


def test_change_gives_a_plan_to_a_tenant_that_has_none(cast: Cast) -> None:
    cast.tenant.plan_subscriptions.all().delete()

    assert change(cast, "free").plan.key == "free"
