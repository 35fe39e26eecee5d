"""Suspended tenants and those being closed: nothing can be sent or changed until that ends."""

from datetime import time, timedelta

import pytest
from django.utils import timezone

from controlplane.core.audit import Actor
from controlplane.core.errors import Denied, Invalid
from controlplane.core.models import AuditEvent
from plans.models import PlanSubscription
from plans.quotas import enforcement
from tenants import exporting, permissions
from tenants.actions import (
    alarms,
    api_tokens,
    closures,
    notification_channels,
    notification_preferences,
    support_access,
    suspensions,
)
from tenants.actions.suspensions import TenantState
from tenants.models import AddressSpace, ApiToken, MaintenanceWindow, Membership, Tenant
from tenants.notifications.models import Event, SpendBudget
from tenants.permissions import Permission
from tests.support import domain
from tests.support.domain import Cast

pytestmark = pytest.mark.django_db
STAFF = Actor("user:staff@operator.test")
NOW = timezone.now()


def enforce(tenant: Tenant) -> None:
    enforcement.evaluate(tenant_id=tenant.pk, now=timezone.now())


def is_withdrawn(tenant: Tenant) -> list[bool]:
    return list(AddressSpace.objects.filter(tenant=tenant).values_list("send_withdrawn", flat=True))


def refused(tenant: Tenant) -> str:
    """Return the code with which a change of messaging is refused; empty if it is not."""
    try:
        permissions.require_changeable(
            Tenant.objects.get(pk=tenant.pk), Permission.MANAGE_MESSAGING
        )
    except Denied as error:
        return error.error_code
    return ""


def test_a_suspended_tenant_cannot_send_until_it_is_restored(cast: Cast) -> None:
    domain.space(cast.tenant)
    domain.space(cast.other)

    suspensions.suspend(tenant=cast.tenant, reason="An invoice is unpaid.", by=STAFF)
    enforce(cast.tenant)  # quotas alone would restore the right to send
    during = (is_withdrawn(cast.tenant), is_withdrawn(cast.other), refused(cast.tenant))
    suspensions.restore(tenant=cast.tenant, by=STAFF)
    enforce(cast.tenant)

    assert during == ([True], [False], "tenant.suspended")
    assert (is_withdrawn(cast.tenant), refused(cast.tenant)) == ([False], "")
    assert set(Event.objects.values_list("kind", flat=True)) == {
        "tenant.suspended",
        "tenant.restored",
    }


def test_a_suspended_tenant_pays_and_reads(cast: Cast) -> None:
    suspended = suspensions.suspend(tenant=cast.tenant, reason="Unpaid.", by=STAFF)

    for permission in (Permission.MANAGE_BILLING, Permission.READ_MESSAGES, Permission.VIEW):
        permissions.require_changeable(suspended, permission)
    for permission in (Permission.MANAGE_TEAM, Permission.MANAGE_TOKENS):
        with pytest.raises(Denied, match="Unpaid"):
            permissions.require_changeable(suspended, permission)


@pytest.mark.parametrize("reason", ["", "  ", "x" * 301, "a\x07b"])
def test_a_suspension_needs_a_reason(cast: Cast, reason: str) -> None:
    with pytest.raises(Invalid, match="all members of the tenant read it"):
        suspensions.suspend(tenant=cast.tenant, reason=reason, by=STAFF)


def test_suspension_and_restore_are_idempotent(cast: Cast) -> None:
    for reason in ("First.", "Second."):
        suspended = suspensions.suspend(tenant=cast.tenant, reason=reason, by=STAFF)
    for _ in range(2):
        suspensions.restore(tenant=cast.tenant, by=STAFF)

    assert suspended.suspension_reason == "First."
    actions = ["tenant.suspend", "tenant.restore"]
    found = AuditEvent.objects.filter(action__in=actions).order_by("id")
    assert list(found.values_list("action", flat=True)) == actions


def test_a_closed_tenant_can_be_kept_until_it_is_erased(cast: Cast) -> None:
    domain.space(cast.tenant)
    closures.request(tenant=cast.tenant, by=cast.by, now=NOW)
    enforce(cast.tenant)
    during = (is_withdrawn(cast.tenant), refused(cast.tenant))

    kept = closures.undo(tenant=cast.tenant, by=cast.by, now=NOW + timedelta(days=29))
    enforce(cast.tenant)

    assert during == ([True], "tenant.closing")
    assert kept.erase_at is None
    assert is_withdrawn(cast.tenant) == [False]
    assert closures.erase_due(NOW + timedelta(days=31), is_settled=bool) == 0


def test_a_closed_tenant_is_erased_after_the_delay(cast: Cast) -> None:
    space = domain.space(cast.tenant)
    domain.space(cast.other)
    api_tokens.issue(tenant=cast.tenant, name="ci", role="viewer", expires_at=None, by=cast.by)
    closures.request(tenant=cast.tenant, by=cast.by, now=NOW)
    late = NOW + timedelta(days=30)

    early = closures.erase_due(late - timedelta(seconds=1), is_settled=bool)
    first = closures.erase_due(late, is_settled=bool)
    space.refresh_from_db()
    deleting = space.deletion_requested_at is not None
    waits = closures.erase_due(late, is_settled=bool)
    domain.gone(space)
    last = [closures.erase_due(late, is_settled=bool) for _ in range(2)]

    assert (early, first, deleting, waits, last) == (0, 0, True, 0, [1, 0])
    assert not Membership.objects.filter(tenant=cast.tenant).exists()
    assert not ApiToken.objects.filter(tenant=cast.tenant, revoked_at__isnull=True).exists()
    assert not PlanSubscription.objects.filter(tenant=cast.tenant, ends_at__isnull=True).exists()
    assert Membership.objects.filter(tenant=cast.other).exists()
    assert is_withdrawn(cast.other) == [False]
    with pytest.raises(TenantState, match="too late"):
        closures.undo(tenant=cast.tenant, by=cast.by, now=late)


def test_an_export_has_everything_of_the_tenant_and_no_secret(cast: Cast) -> None:
    space, other = domain.space(cast.tenant), domain.space(cast.other)
    domain.address(space, "orders")
    domain.user(space)
    domain.address(other, "foreign")
    _, clear = api_tokens.issue(
        tenant=cast.tenant, name="ci", role="viewer", expires_at=None, by=cast.by
    )

    document = exporting.document(cast.tenant)

    assert [row["address"] for row in document["addresses"]] == ["orders"]
    assert [row["name"] for row in document["messaging_users"]] == ["app"]
    assert {row["user"] for row in document["members"]} == {cast.owner.email, cast.member.email}
    text = str(document)
    assert "foreign" not in text
    for secret in (clear, domain.PASSWORD, "verifiers", "stored_key", "token_hash"):
        assert secret not in text


def test_an_export_has_what_notifies_and_what_was_chosen(cast: Cast) -> None:
    space = domain.space(cast.tenant)
    orders = domain.address(space, "orders")
    secret_url = "https://hooks.example.com/T0P-S3CRET"
    target = notification_channels.Target("webhook", secret_url)
    _, secret = notification_channels.create(
        tenant=cast.tenant, name="pager", target=target, kinds=[], by=cast.by
    )
    alarms.create(address=orders, metric="depth", limits=alarms.Limits(1000), by=cast.by)
    notification_preferences.set_budget(tenant=cast.tenant, amount_minor=5000, by=cast.by)
    notification_preferences.set_defaults(
        tenant=cast.tenant, choices={"space.trouble": False}, by=cast.by
    )
    mine = Membership.objects.get(tenant=cast.tenant, user=cast.member)
    notification_preferences.set_own(membership=mine, choices={"space.trouble": True})
    support_access.give_consent(tenant=cast.tenant, role="viewer", hours=1, by=cast.by)
    AddressSpace.objects.update(labels={"team": "blue"})
    MaintenanceWindow.objects.create(tenant=cast.tenant, weekday=2, starts_at=time(3), minutes=60)

    document = exporting.document(cast.tenant)
    foreign = exporting.document(cast.other)

    assert document["spaces"][0]["labels"] == {"team": "blue"}
    assert [row["label"] for row in document["notification_channels"]] == [
        "https://hooks.example.com"
    ]
    assert [row["threshold"] for row in document["alarms"]] == [1000]
    assert [row["minutes"] for row in document["maintenance_windows"]] == [60]
    assert document["spend_budget"] == [{"amount_minor": 5000}]
    assert document["notification_defaults"] == [{"kind": "space.trouble", "by_mail": False}]
    assert [row["user"] for row in document["notification_choices"]] == [cast.member.email]
    assert [row["role"] for row in document["support_consents"]] == ["viewer"]
    assert [row["plan"] for row in document["plans"]] == ["team"]
    assert secret not in str(document)
    assert "T0P-S3CRET" not in str(document)
    assert not any(
        foreign[name]
        for name in ("alarms", "maintenance_windows", "notification_channels", "spend_budget")
    )


def test_an_erased_tenant_has_no_budget(cast: Cast) -> None:
    notification_preferences.set_budget(tenant=cast.tenant, amount_minor=5000, by=cast.by)
    closures.request(tenant=cast.tenant, by=cast.by, now=NOW)

    closures.erase_due(NOW + timedelta(days=30), is_settled=lambda tenant: True)

    assert not SpendBudget.objects.exists()
