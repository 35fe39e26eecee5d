"""Events become deliveries: for the right members, staff and channels, and only once."""

from datetime import UTC, datetime

import pytest
from django.db import transaction
from django.db.transaction import TransactionManagementError

from controlplane.core import secrets
from tenants.models import Membership, Role, Tenant, User
from tenants.notifications import outbox, preferences, routing
from tenants.notifications.event_kinds import BY_KEY
from tenants.notifications.models import (
    Channel,
    Delivery,
    Event,
    PersonPreference,
    TenantPreference,
)
from tests.support import domain

NOW = datetime(2026, 12, 1, 2, tzinfo=UTC)


def written(kind: str, tenant: Tenant, key: str = "one") -> None:
    outbox.write(kind, tenant=tenant, key=key, fields=BY_KEY[kind].sample, now=NOW)


def channel(tenant: Tenant, name: str, *kinds: str) -> Channel:
    return Channel.objects.create(
        tenant=tenant,
        name=name,
        kind="chat",
        target_encrypted=secrets.encrypt("slack://a/b/c"),
        label="Slack",
        kinds=list(kinds),
    )


def receivers() -> list[str]:
    """Return who gets a delivery: the names of channels and the addresses of people."""
    rows = Delivery.objects.select_related("channel")
    return sorted(row.channel.name if row.channel else row.email for row in rows)


def test_an_event_goes_to_the_roles_of_its_kind_and_to_no_other_tenant(
    cast: domain.Cast,
) -> None:
    channel(cast.other, "theirs")
    written("alarm.raised", cast.tenant)
    written("invoice.issued", cast.tenant)

    assert routing.route(NOW) == 2

    alarms = Delivery.objects.filter(event__kind="alarm.raised")
    invoices = Delivery.objects.filter(event__kind="invoice.issued")
    assert {row.email for row in alarms} == {cast.owner.email, cast.member.email}
    assert {row.email for row in invoices} == {cast.owner.email}  # a developer sees no invoices


def test_the_same_event_written_twice_is_routed_once(cast: domain.Cast) -> None:
    written("alarm.raised", cast.tenant)
    written("alarm.raised", cast.tenant)
    routing.route(NOW)
    Event.objects.update(routed_at=None)  # a worker that was killed before its commit
    routing.route(NOW)

    assert Event.objects.count() == 1
    assert receivers() == sorted([cast.owner.email, cast.member.email])


def test_an_event_that_is_rolled_back_is_not_sent(cast: domain.Cast) -> None:
    with transaction.atomic():
        written("alarm.raised", cast.tenant)
        transaction.set_rollback(True)

    assert routing.route(NOW) == 0


@pytest.mark.django_db(transaction=True)
def test_an_event_needs_the_transaction_of_its_change() -> None:
    tenant = Tenant.objects.create(name="Acme", slug="acme")

    with pytest.raises(TransactionManagementError):
        written("alarm.raised", tenant)


def test_staff_get_troubles_once_also_as_members(cast: domain.Cast) -> None:
    User.objects.filter(pk=cast.owner.pk).update(is_staff=True)
    User.objects.create_user("staff@op.test", "staff@op.test", is_staff=True)
    User.objects.create_user("gone@op.test", "gone@op.test", is_staff=True, is_active=False)
    written("space.trouble", cast.tenant)
    routing.route(NOW)

    assert receivers() == sorted([cast.owner.email, cast.member.email, "staff@op.test"])


def test_channels_get_the_kinds_that_they_chose(cast: domain.Cast) -> None:
    channel(cast.tenant, "all")
    channel(cast.tenant, "invoices", "invoice.issued")
    Channel.objects.filter(name="off").update(disabled_at=NOW)
    written("alarm.raised", cast.tenant)
    routing.route(NOW)

    assert receivers() == sorted(["all", cast.owner.email, cast.member.email])


def test_a_disabled_channel_gets_nothing(cast: domain.Cast) -> None:
    channel(cast.tenant, "off")
    Channel.objects.update(disabled_at=NOW)
    written("alarm.raised", cast.tenant)
    routing.route(NOW)

    assert "off" not in receivers()


def test_an_addressed_event_goes_to_its_address_or_channel_only(cast: domain.Cast) -> None:
    channel(cast.tenant, "other")
    one = channel(cast.tenant, "one")
    outbox.write_to_channel("channel.test", channel=one, key="1", fields={"channel": "one"})
    outbox.write_to_address(
        "team.invitation", tenant=cast.tenant, email="new@acme.test", key="2", fields={}
    )
    routing.route(NOW)

    assert receivers() == ["new@acme.test", "one"]


def test_a_persons_choice_counts_before_the_tenants_and_that_before_the_default(
    cast: domain.Cast,
) -> None:
    kind = BY_KEY["alarm.raised"]
    TenantPreference.objects.create(tenant=cast.tenant, kind=kind.key, by_mail=False)
    assert list(preferences.receivers(cast.tenant, kind)) == []

    PersonPreference.objects.create(
        tenant=cast.tenant, user=cast.member, kind=kind.key, by_mail=True
    )
    # The choice of the same person in another tenant says nothing here.
    PersonPreference.objects.create(tenant=cast.other, user=cast.owner, kind=kind.key, by_mail=True)
    assert [row.user for row in preferences.receivers(cast.tenant, kind)] == [cast.member]


def test_nobody_chooses_what_their_role_may_not_see(cast: domain.Cast) -> None:
    kind = BY_KEY["invoice.issued"]
    PersonPreference.objects.create(
        tenant=cast.tenant, user=cast.member, kind=kind.key, by_mail=True
    )

    assert [row.user for row in preferences.receivers(cast.tenant, kind)] == [cast.owner]


def test_a_required_kind_cannot_be_turned_off(cast: domain.Cast) -> None:
    kind = BY_KEY["channel.disabled"]
    PersonPreference.objects.create(
        tenant=cast.tenant, user=cast.owner, kind=kind.key, by_mail=False
    )

    assert [row.user for row in preferences.receivers(cast.tenant, kind)] == [cast.owner]


@pytest.mark.parametrize(
    "kind",
    [
        "plan.version",
        "invoice.issued",
        "invoice.overdue",
        "invoice.reminder",
        "credit_note.issued",
        "credit.paid_back",
    ],
)
def test_notices_of_money_go_to_the_email_for_invoices_too(cast: domain.Cast, kind: str) -> None:
    Tenant.objects.filter(pk=cast.tenant.pk).update(billing_email="books@outside.test")
    TenantPreference.objects.create(tenant=cast.tenant, kind="invoice.issued", by_mail=False)
    written(kind, cast.tenant)
    written("alarm.raised", cast.tenant)
    routing.route(NOW)

    rows = Delivery.objects.filter(email="books@outside.test")
    assert [(row.event.kind, row.user, row.tenant) for row in rows] == [(kind, None, cast.tenant)]


def test_a_member_whose_address_is_the_email_for_invoices_gets_one_mail(cast: domain.Cast) -> None:
    written("invoice.issued", cast.tenant)
    Tenant.objects.filter(pk=cast.tenant.pk).update(billing_email=cast.owner.email.upper())
    routing.route(NOW)

    assert receivers() == [cast.owner.email]


def test_without_an_email_for_invoices_only_members_get_them(cast: domain.Cast) -> None:
    Tenant.objects.filter(pk=cast.tenant.pk).update(billing_email="")
    written("invoice.issued", cast.tenant)
    routing.route(NOW)

    assert receivers() == [cast.owner.email]


def test_a_disabled_account_gets_nothing(cast: domain.Cast) -> None:
    User.objects.filter(pk=cast.member.pk).update(is_active=False)
    kind = BY_KEY["alarm.raised"]

    assert [row.user for row in preferences.receivers(cast.tenant, kind)] == [cast.owner]


def test_choices_list_what_the_role_may_get(cast: domain.Cast) -> None:
    member = Membership.objects.get(user=cast.member)
    found = {choice.kind.key: choice for choice in preferences.choices(member)}

    assert member.role == Role.DEVELOPER
    assert found["alarm.raised"].by_mail
    assert not found["quota.threshold"].by_mail
    assert "invoice.issued" not in found
    assert "channel.test" not in found


def test_kinds_of_a_newer_version_wait(cast: domain.Cast) -> None:
    written("alarm.raised", cast.tenant)
    Event.objects.update(kind="from.the.future")

    assert routing.route(NOW) == 0
    assert Event.objects.get().routed_at is None
