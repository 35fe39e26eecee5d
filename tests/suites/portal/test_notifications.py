"""The pages of notifications, of an address's alarms, and the operator's mailbox."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from controlplane.core.errors import Invalid
from controlplane.core.models import AuditEvent
from tenants import permissions
from tenants.actions import notification_preferences
from tenants.models import Address
from tenants.notifications import preferences, reads
from tenants.notifications.event_kinds import BY_KEY
from tenants.notifications.models import (
    AddressAlarm,
    Channel,
    Delivery,
    Event,
    MailboxMessage,
    PersonPreference,
    SpendBudget,
)
from tenants.permissions import Permission
from tests.suites.portal.conftest import As
from tests.support import domain
from tests.support.notifications import notified
from tests.support.portal import rows
from tests.support.portal.rows import World

pytestmark = pytest.mark.django_db
HOME = "/t/acme-shipping/"
PAGE = HOME + "notifications/"


def test_everyone_chooses_their_own_mails(world: World, as_: As) -> None:
    client = as_(world.member)
    shown = client.get(PAGE).content.decode()
    assert world.member.email in shown
    assert "New channel" not in shown
    assert "Invoice issued" not in shown  # a developer may not see invoices

    on: list[str] = re.findall(r'name="([a-z]+\.[a-z_]+)"[^>]*checked', shown)
    assert "alarm.raised" in on
    sent = {kind: "on" for kind in on if kind != "alarm.raised"}
    assert client.post(PAGE, sent).status_code == 302

    kept = PersonPreference.objects.get()
    assert (kept.user, kept.kind, kept.by_mail) == (world.member, "alarm.raised", False)
    kind = BY_KEY["alarm.raised"]
    assert [row.user for row in preferences.receivers(world.tenant, kind)] == [world.owner]


def test_a_channel_is_made_tested_changed_rotated_and_deleted(world: World, as_: As) -> None:
    client = as_(world.owner)
    values = {"name": "ci", "kind": "webhook", "url": "https://hooks.example/key"}
    made = client.post(f"{PAGE}channels/-/new", values)
    channel = Channel.objects.get()
    (secret,) = re.findall(r"whsec_[\w+/=]+", made.content.decode())
    assert made["Cache-Control"] == "no-store"
    own = f"{PAGE}channels/{channel.pk}"
    assert secret not in client.get(own).content.decode()
    assert "https://hooks.example/key" not in client.get(own).content.decode()

    client.post(f"{own}/test")
    assert Event.objects.filter(kind="channel.test", channel=channel).count() == 1
    client.post(own, {"name": "ci-2", "kinds": ["alarm.raised"]})
    channel.refresh_from_db()
    assert (channel.name, channel.kinds) == ("ci-2", ["alarm.raised"])
    assert channel.disabled_at is not None  # the box was not checked
    assert "a member has disabled it" in client.get(own).content.decode()
    rotated = client.post(f"{own}/secret").content.decode()
    assert re.findall(r"whsec_[\w+/=]+", rotated) not in ([secret], [])
    assert "Delete the channel ci-2?" in client.get(f"{own}/delete").content.decode()
    assert client.post(f"{own}/delete").status_code == 302
    assert not Channel.objects.exists()
    actions = AuditEvent.objects.filter(subject_type="channel").order_by("id")
    assert [event.action.removeprefix("channel.") for event in actions] == [
        "create",
        "test",
        "update",
        "rotate",
        "delete",
    ]


def test_a_url_that_waypost_does_not_call_is_an_error_of_the_form(world: World, as_: As) -> None:
    values = {"name": "ci", "kind": "webhook", "url": "http://hooks.example/"}
    answer = as_(world.owner).post(f"{PAGE}channels/-/new", values)

    assert answer.status_code == 422
    assert "must begin with https" in answer.content.decode()
    assert not Channel.objects.exists()


def test_a_delivery_shows_its_attempts_and_is_sent_again(world: World, as_: As) -> None:
    delivery = notified.delivery(notified.webhook(world.tenant))
    delivery.log.create(
        at=delivery.created_at,
        status=500,
        duration_ms=12,
        error="The receiver answered 500.",
        response="<b>sorry</b>",
    )
    Delivery.objects.update(state="failed", ended_at=delivery.created_at, attempts=11)
    client, own = as_(world.owner), f"{PAGE}deliveries/{delivery.pk}"

    shown = client.get(own).content.decode()
    assert "The receiver answered 500." in shown
    assert "<b>sorry" not in shown
    assert client.post(own).status_code == 302
    delivery.refresh_from_db()
    assert (delivery.state, delivery.attempts) == ("waiting", 0)


def test_ids_of_another_organization_are_not_found(world: World, as_: As) -> None:
    channel = notified.webhook(world.other)
    delivery = notified.delivery(channel)
    client = as_(world.owner)

    for path in (f"channels/{channel.pk}", f"channels/{channel.pk}/delete"):
        assert client.get(PAGE + path).status_code == 404
        assert client.post(PAGE + path).status_code == 404
    for path in ("test", "secret"):
        assert client.post(f"{PAGE}channels/{channel.pk}/{path}").status_code == 404
    assert client.post(f"{PAGE}deliveries/{delivery.pk}").status_code == 404
    assert Channel.objects.get().generation == 1


def test_defaults_and_budget_are_saved(world: World, as_: As) -> None:
    client = as_(world.owner)
    page = f"{PAGE}defaults"
    answer = client.post(page, {"alarm.raised": "off", "budget": "120.50"})

    assert answer.status_code == 302
    assert preferences.of_tenant(world.tenant) == {"alarm.raised": False}
    assert SpendBudget.objects.get().amount_minor == 12_050
    assert 'value="120.50"' in client.get(page).content.decode()
    client.post(page, {"budget": ""})
    assert preferences.of_tenant(world.tenant) == {}
    assert not SpendBudget.objects.exists()
    assert client.post(page, {"budget": "-1"}).status_code == 400


def test_a_refused_budget_keeps_the_defaults(
    world: World, as_: As, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(**_: object) -> None:
        raise Invalid("Smaller.", code="budget.invalid", budget_minor=["Enter a smaller amount."])

    monkeypatch.setattr(notification_preferences, "set_budget", refuse)
    answer = as_(world.owner).post(f"{PAGE}defaults", {"alarm.raised": "off", "budget": "1"})

    assert answer.status_code == 422
    assert "Enter a smaller amount." in answer.content.decode()
    assert preferences.of_tenant(world.tenant) == {}


@pytest.fixture
def queue(world: World) -> Address:
    return rows.address(rows.active_space(world.tenant), "new")


def test_an_alarm_is_set_shown_and_deleted_on_the_page_of_its_address(
    world: World, as_: As, queue: Address
) -> None:
    client = as_(world.member)
    page = f"/t/acme-shipping/spaces/orders/addresses/{queue.pk}/alarms"
    assert page in client.get(page.removesuffix("/alarms")).content.decode()

    values = {"metric": "age", "threshold": "300", "for_seconds": "0"}
    assert client.post(page, values).status_code == 302
    alarm = AddressAlarm.objects.get()
    assert (alarm.metric, alarm.threshold, alarm.clear_below) == ("age", 300, 240)
    assert client.post(page, values).status_code == 409
    shown = client.get(page).content.decode()
    assert "Age in seconds" in shown
    assert "quiet" in shown
    AddressAlarm.objects.update(raised_at=queue.created_at)
    live = client.get(page.removesuffix("/alarms")).content.decode()
    assert "an oldest message of 300 s or more" in live
    assert "Set an alarm" not in as_(world.billing).get(page).content.decode()
    assert client.post(f"{page}/{alarm.pk}/delete").status_code == 302
    assert not AddressAlarm.objects.exists()


def test_an_address_without_stored_messages_has_no_alarms(world: World, as_: As) -> None:
    space = rows.active_space(world.tenant)
    direct = rows.address(space, "ping", "anycast")
    page = f"/t/acme-shipping/spaces/orders/addresses/{direct.pk}"

    assert f"{direct.pk}/alarms" not in as_(world.owner).get(page).content.decode()
    values = {"metric": "depth", "threshold": "3", "for_seconds": "0"}
    refused = as_(world.owner).post(f"{page}/alarms", values)
    assert refused.status_code == 422
    assert "store no messages" in refused.content.decode()


def test_the_operator_reads_mails_as_text(world: World, as_: As) -> None:
    mail = MailboxMessage.objects.create(
        sender="waypost@localhost",
        recipients=["ann@acme.example"],
        subject="An <b>alarm</b>",
        text="See https://waypost.example/t/acme/\n<script>alert(1)</script>",
        html="<script>alert(2)</script>",
    )
    client = as_(world.staff)

    listed = client.get("/staff/mailbox/").content.decode()
    assert "ann@acme.example" in listed
    assert "An &lt;b&gt;alarm" in listed
    shown = client.get(f"/staff/mailbox/{mail.pk}").content.decode()
    assert 'href="https://waypost.example/t/acme/"' in shown
    assert "<script>alert" not in shown
    assert client.get("/staff/mailbox/999").status_code == 404
    assert as_(world.owner).get("/staff/mailbox/").status_code == 404


def test_the_operator_sees_mails_that_did_not_go_out_and_sends_them_again(
    world: World, as_: As, settings: Settings
) -> None:
    settings.EMAIL_HOST = "smtp.example.com"
    event = Event.objects.create(
        kind="plan.version",
        tenant=world.tenant,
        dedup_key="one",
        occurred_at=timezone.now(),
        routed_at=timezone.now(),
    )
    failed = Delivery.objects.create(
        event=event,
        tenant=world.tenant,
        user=world.owner,
        email="ann@acme.example",
        state="failed",
        attempts=11,
        reason="The mail server did not take the mail: <away>",
        next_attempt_at=timezone.now(),
        ended_at=timezone.now(),
    )
    client = as_(world.staff)

    health = client.get("/staff/health/").content.decode()
    listed = client.get("/staff/mailbox/").content.decode()
    sent = client.post("/staff/mailbox/send-again", follow=True).content.decode()
    failed.refresh_from_db()

    assert "0 mails waiting for over 15 minutes, and 1 given up in 24 hours." in health
    for text in ("ann@acme.example", "New version of your plan", "after 11 attempts", "&lt;away"):
        assert text in listed
    assert "Waypost sends 1 again now." in sent
    assert "ann@acme.example" not in sent  # it is due, and not late
    assert failed.state == "waiting"
    assert "no channel fails" in client.get("/staff/health/").content.decode()
    assert as_(world.owner).post("/staff/mailbox/send-again").status_code == 404


def test_a_role_without_the_right_to_see_invoices_has_none_sent(
    world: World, as_: As, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No role of today has the one right and not the other; roles of tomorrow may."""
    limited = permissions.ROLES["owner"] - {Permission.VIEW_BILLING}
    monkeypatch.setattr(permissions, "ROLES", {**permissions.ROLES, "owner": limited})
    client, url = as_(world.owner), f"{PAGE}channels/-/new"
    values = {"name": "ci", "kind": "webhook", "url": "https://hooks.example/key"}

    refused = client.post(url, {**values, "kinds": ["invoice.issued"]})
    assert refused.status_code == 403
    assert "needs view_billing" in refused.content.decode()
    assert client.post(url, values).status_code == 403
    assert not Channel.objects.exists()
    assert client.post(url, {**values, "kinds": ["alarm.raised"]}).status_code == 200
    own = f"{PAGE}channels/{Channel.objects.get().pk}"
    changed = {"name": "ci", "enabled": "on", "kinds": ["invoice.issued"]}
    assert client.post(own, changed).status_code == 403
    assert Channel.objects.get().kinds == ["alarm.raised"]

    Channel.objects.update(kinds=["alarm.raised", "invoice.issued"])
    get_channel = reads.get_channel

    def read_early(*which: Any) -> Channel:
        row = get_channel(*which)
        Channel.objects.update(kinds=["alarm.raised"])  # another request takes the kind away
        return row

    monkeypatch.setattr(reads, "get_channel", read_early)
    assert client.post(own, changed).status_code == 403
    assert Channel.objects.get().kinds == ["alarm.raised"]


def test_the_overview_shows_raised_alarms_by_one_query(world: World, as_: As) -> None:
    space, since = rows.space(world.tenant, "orders"), timezone.now() - timedelta(hours=1)
    invoices = domain.address(space, "invoices")
    alarm = notified.alarm(invoices, last_value=1234)
    client = as_(world.member)
    assert "raised." not in client.get(HOME).content.decode()
    with CaptureQueriesContext(connection) as quiet:
        client.get(HOME)

    AddressAlarm.objects.filter(pk=alarm.pk).update(raised_at=since)
    for number in range(5):
        notified.alarm(invoices, "age", 60 + number, raised_at=since - timedelta(hours=1))
    with CaptureQueriesContext(connection) as raised:
        page = client.get(HOME).content.decode()

    assert len(raised) == len(quiet)
    assert "Alarms are raised." in page
    link = f'<a href="{HOME}spaces/orders/addresses/{invoices.pk}/alarms">invoices</a>'
    moment = f'<time datetime="{since.isoformat()}">'
    said = f"{link} in orders: 1,234 messages now, raised at 100 messages or more, since {moment}"
    assert said in page
    assert page.count("in orders: ") == page.count("raised at ") == 5
    assert f'<a href="{HOME}alarms/">All raised alarms</a>' in page


def test_the_overview_shows_no_alarm_of_what_is_deleted_or_of_others(world: World, as_: As) -> None:
    space = rows.space(world.tenant, "orders")
    gone = domain.address(space, "gone")
    Address.objects.filter(pk=gone.pk).update(
        deletion_requested_at=timezone.now(), deleted_at=timezone.now()
    )
    theirs = domain.address(rows.space(world.other, "theirs"), "secret")
    for address in (gone, theirs):
        notified.alarm(address, raised_at=timezone.now(), last_value=200)

    page = as_(world.owner).get(HOME).content.decode()

    assert "raised at" not in page
