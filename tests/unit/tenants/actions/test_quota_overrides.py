"""Limits that staff set for one tenant."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks

from controlplane.core.audit import Actor
from controlplane.core.errors import Invalid, QuotaExceeded
from controlplane.core.models import AuditEvent
from plans.models import QuotaOverride
from tenants import admission
from tenants.actions import quota_overrides
from tests.support import domain
from tests.support.domain import Cast

pytestmark = pytest.mark.django_db
STAFF = Actor("user:staff@operator.test")


def override(cast: Cast, **changes: Any) -> QuotaOverride:
    arguments: dict[str, Any] = {
        "resource": "spaces",
        "amount": 1,
        "reason": "trial",
        "expires_at": None,
        **changes,
    }
    return quota_overrides.set_override(tenant=cast.tenant, by=STAFF, **arguments)


def test_an_override_holds_at_once_and_replaces_the_one_before(cast: Cast) -> None:
    override(cast, amount=7)
    override(cast, amount=0, reason="unpaid")

    assert QuotaOverride.objects.get().reason == "unpaid"
    with pytest.raises(QuotaExceeded):
        domain.space(cast.tenant)
    events = AuditEvent.objects.filter(action="quota_override.set")
    assert {(event.actor, event.reason) for event in events} == {
        (STAFF.name, "trial"),
        (STAFF.name, "unpaid"),
    }
    replaced = events.get(reason="unpaid")
    first, second = (
        {"resource": "spaces", "amount": amount, "expires_at": None} for amount in (7, 0)
    )
    assert (replaced.before, replaced.after) == (first, second)


def test_an_override_ends_when_it_says(cast: Cast) -> None:
    override(cast, amount=0, expires_at=timezone.now() + timedelta(hours=1))
    assert admission.limits(cast.tenant)["spaces"] == 0

    QuotaOverride.objects.update(expires_at=timezone.now() - timedelta(seconds=1))

    assert admission.limits(cast.tenant)["spaces"] == 5


def test_clear_goes_back_to_the_plan_once(cast: Cast) -> None:
    override(cast, amount=0)

    quota_overrides.clear_override(tenant=cast.tenant, resource="spaces", by=STAFF)
    quota_overrides.clear_override(tenant=cast.tenant, resource="spaces", by=STAFF)

    assert admission.limits(cast.tenant)["spaces"] == 5
    assert AuditEvent.objects.filter(action="quota_override.clear").count() == 1


def test_set_and_clear_enqueue_the_period_quotas(
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
        override(cast)
        quota_overrides.clear_override(tenant=cast.tenant, resource="spaces", by=STAFF)

    assert sent == [("workers.enforce_quotas", {"tenant_id": cast.tenant.pk})] * 2


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"resource": "rooms"}, "resource"),
        ({"resource": "space.addresses"}, "resource"),
        ({"amount": -1}, "amount"),
        ({"amount": 2**63}, "amount"),
        ({"reason": " "}, "reason"),
        ({"reason": "a\0"}, "reason"),
        ({"expires_at": timezone.now()}, "expires_at"),
    ],
)
def test_set_names_the_field_that_is_wrong(
    cast: Cast, changes: dict[str, object], field: str
) -> None:
    with pytest.raises(Invalid, match=field) as refusal:
        override(cast, **changes)

    assert set(refusal.value.fields) == {field}
    assert refusal.value.error_code == "quota_override.invalid"
