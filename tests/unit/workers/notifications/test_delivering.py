"""Mails, webhooks and chats are sent for real: to an SMTP server and to an HTTP server."""

import email
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from django.core import mail as django_mail
from pytest_django import Settings
from standardwebhooks import WebhookVerificationError

from controlplane.core import leases, outbound, secrets
from controlplane.embedded import ports
from tenants.actions import notification_channels
from tenants.actions.notification_channels import Target
from tenants.notifications import deliveries, outbox
from tenants.notifications.chat_services import BY_SCHEMA
from tenants.notifications.deliveries import Outcome
from tenants.notifications.event_kinds import BY_KEY
from tenants.notifications.models import Attempt, Channel, Delivery, MailboxMessage
from tests.support import domain
from tests.support.notifications import receiver
from tests.support.notifications.receiver import Receiver
from workers.notifications import delivering

State = Delivery.State


@dataclass
class Clock:
    """A clock that stands still. Signatures need the present time: receivers check it."""

    now: datetime = field(default_factory=lambda: datetime.now(UTC))

    def __call__(self) -> datetime:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def there(settings: Settings) -> Iterator[Receiver]:
    """A receiver on this machine, to which webhooks may go."""
    settings.WEBHOOK_ALLOWED_RANGES = ["127.0.0.0/8"]
    with receiver.running() as running:
        yield running


@pytest.fixture
def hooked(cast: domain.Cast, there: Receiver) -> tuple[Channel, str]:
    """A webhook to the receiver that gets alarms, with its secret."""
    return notification_channels.create(
        tenant=cast.tenant,
        name="hook",
        target=Target("webhook", there.url),
        kinds=["alarm.raised"],
        by=cast.by,
    )


@pytest.fixture
def happened(cast: domain.Cast, clock: Clock) -> Callable[[], None]:
    """Return what raises one more alarm in the tenant."""
    numbers = iter(range(100))

    def happen() -> None:
        outbox.write(
            "alarm.raised",
            tenant=cast.tenant,
            key=str(next(numbers)),
            fields=BY_KEY["alarm.raised"].sample,
            now=clock(),
        )

    return happen


def of_channel() -> Delivery:
    return Delivery.objects.get(channel__isnull=False)


def test_a_webhook_arrives_signed(
    hooked: tuple[Channel, str],
    there: Receiver,
    clock: Clock,
    happened: Callable[[], None],
) -> None:
    happened()
    delivering.run(clock)

    (content,) = there.verified(hooked[1])
    assert content["type"] == "alarm.raised"
    assert content["data"]["address"] == "orders"
    headers, _ = there.got[0]
    assert headers["webhook-id"] == of_channel().event_id
    assert of_channel().state == State.DELIVERED
    with pytest.raises(WebhookVerificationError):
        there.verified("whsec_" + "A" * 43 + "=")


def test_a_webhook_is_repeated_with_the_same_id_until_it_arrives(
    hooked: tuple[Channel, str],
    there: Receiver,
    clock: Clock,
    happened: Callable[[], None],
) -> None:
    there.status = 500
    happened()
    delivering.run(clock)
    log = Attempt.objects.get(delivery=of_channel())
    assert (log.status, log.error) == (500, "The receiver answered 500.")
    assert log.response == "the answer of the receiver"
    delivering.run(clock)
    assert len(there.got) == 1  # it is not due yet

    there.status = 204
    clock.advance(5)
    delivering.run(clock)

    assert [headers["webhook-id"] for headers, _ in there.got] == [of_channel().event_id] * 2
    assert there.got[0][1] == there.got[1][1]
    assert of_channel().state == State.DELIVERED


def test_a_worker_that_is_killed_after_sending_sends_again_with_the_same_id(
    hooked: tuple[Channel, str],
    there: Receiver,
    clock: Clock,
    happened: Callable[[], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    happened()
    with monkeypatch.context() as patched:
        patched.setattr(deliveries, "record", killed)
        with pytest.raises(KeyboardInterrupt):
            delivering.run(clock)
    delivering.run(clock)
    assert len(there.got) == 1  # the claim of the killed worker still counts
    clock.advance(deliveries.LEASE.total_seconds())
    delivering.run(clock)

    assert [headers["webhook-id"] for headers, _ in there.got] == [of_channel().event_id] * 2
    assert of_channel().state == State.DELIVERED


def test_both_secrets_verify_after_a_rotation_and_only_the_new_one_a_day_later(
    cast: domain.Cast,
    hooked: tuple[Channel, str],
    there: Receiver,
    clock: Clock,
    happened: Callable[[], None],
) -> None:
    channel, former = hooked
    channel, present = notification_channels.rotate_secret(channel=channel, by=cast.by)
    happened()
    delivering.run(clock)
    assert there.verified(former) == there.verified(present)

    Channel.objects.update(former_secret_until=clock())
    there.got.clear()
    happened()
    delivering.run(clock)
    assert len(there.verified(present)) == 1
    with pytest.raises(WebhookVerificationError):
        there.verified(former)


def test_a_webhook_to_this_machine_is_refused_at_the_sending_too(
    hooked: tuple[Channel, str],
    there: Receiver,
    clock: Clock,
    happened: Callable[[], None],
    settings: Settings,
) -> None:
    settings.WEBHOOK_ALLOWED_RANGES = []
    Channel.objects.update(target_encrypted=secrets.encrypt(there.url.replace("http:", "https:")))
    happened()
    delivering.run(clock)

    assert there.got == []
    assert "not on the public internet" in Attempt.objects.get(delivery=of_channel()).error


def test_a_receiver_that_is_gone_ends_the_channel(
    hooked: tuple[Channel, str],
    there: Receiver,
    clock: Clock,
    happened: Callable[[], None],
) -> None:
    there.status = 410
    happened()
    delivering.run(clock)

    hooked[0].refresh_from_db()
    assert hooked[0].disabled_at == clock()
    assert Delivery.objects.filter(event__kind="channel.disabled").exists()


def test_a_replay_sends_the_same_event_again(
    cast: domain.Cast,
    hooked: tuple[Channel, str],
    there: Receiver,
    clock: Clock,
    happened: Callable[[], None],
) -> None:
    happened()
    delivering.run(clock)
    notification_channels.replay(delivery=of_channel(), by=cast.by)
    clock.advance(60)
    delivering.run(clock)

    assert there.got[0][1] == there.got[1][1]
    assert Attempt.objects.filter(delivery=of_channel()).count() == 2


def test_a_test_reaches_a_disabled_channel(
    cast: domain.Cast, hooked: tuple[Channel, str], there: Receiver, clock: Clock
) -> None:
    notification_channels.update(channel=hooked[0], by=cast.by, enabled=False)
    notification_channels.test(channel=hooked[0], by=cast.by)
    clock.advance(60)
    delivering.run(clock)

    assert [content["type"] for content in there.verified(hooked[1])] == ["channel.test"]


class Inbox:
    """What an SMTP server has received. ``refused`` is what it answers instead, if not empty."""

    def __init__(self) -> None:
        self.mails: list[Any] = []
        self.refused = ""

    async def handle_RCPT(self, _s: Any, _n: Any, envelope: Any, to: str, _o: Any) -> str:
        if self.refused:
            return self.refused
        envelope.rcpt_tos.append(to)
        return "250 OK"

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Any) -> str:
        self.mails.append((envelope.rcpt_tos, email.message_from_bytes(envelope.content)))
        return "250 OK"


@pytest.fixture
def inbox(settings: Settings) -> Iterator[Inbox]:
    """A real SMTP server, to which Django's mails go."""
    received = Inbox()
    port = ports.reserve_port()
    server = Controller(received, hostname="127.0.0.1", port=port, ready_timeout=60)
    server.start()
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_USE_TLS = "127.0.0.1", False
    settings.EMAIL_PORT = port
    settings.DEFAULT_FROM_EMAIL = "Waypost <waypost@op.test>"
    yield received
    server.stop()


def test_a_mail_arrives_as_text_and_html(
    cast: domain.Cast, inbox: Inbox, clock: Clock, happened: Callable[[], None]
) -> None:
    happened()
    delivering.run(clock)

    assert sorted(to for to, _ in inbox.mails) == [[cast.member.email], [cast.owner.email]]
    _, message = inbox.mails[0]
    assert message["Subject"] == "Alarm: orders in production: 1,200 messages"
    assert message["From"] == "Waypost <waypost@op.test>"
    assert message["Auto-Submitted"] == "auto-generated"
    parts = {part.get_content_type(): part for part in message.walk()}
    text = parts["text/plain"].get_payload(decode=True).decode()
    assert "/t/" + cast.tenant.slug in text
    assert "<h1" in parts["text/html"].get_payload(decode=True).decode()
    assert {row.state for row in Delivery.objects.all()} == {State.DELIVERED}


@pytest.mark.parametrize(
    ("answer", "state"),
    [("550 no such person", State.FAILED), ("450 later", State.WAITING)],
)
def test_a_mail_server_that_refuses(
    cast: domain.Cast,
    inbox: Inbox,
    clock: Clock,
    happened: Callable[[], None],
    answer: str,
    state: str,
) -> None:
    inbox.refused = answer
    happened()
    delivering.run(clock)

    assert {row.state for row in Delivery.objects.all()} == {state}
    assert Attempt.objects.count() == 2


def test_without_a_server_mails_are_kept_in_the_mailbox(
    cast: domain.Cast, clock: Clock, happened: Callable[[], None], settings: Settings
) -> None:
    settings.EMAIL_BACKEND = "tenants.notifications.mailbox.MailboxBackend"
    happened()
    delivering.run(clock)
    # Code that sends mails by itself lands there too.
    django_mail.send_mail("Hello", "A text.", None, ["new@acme.test"])

    kept = {row.recipients[0]: row for row in MailboxMessage.objects.all()}
    assert kept.keys() == {cast.owner.email, cast.member.email, "new@acme.test"}
    assert "1,200 messages" in kept[cast.owner.email].text
    assert "<h1" in kept[cast.owner.email].html


@pytest.mark.filterwarnings("ignore:'imghdr' is deprecated")  # Apprise imports it
def test_a_chat_gets_the_message_and_no_redirect(
    cast: domain.Cast, there: Receiver, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    from apprise.plugins.slack import NotifySlack

    resolved: list[str] = []

    def resolve(url: str) -> outbound.Target:
        resolved.append(url)
        return outbound.Target(False, "127.0.0.1", there.port, "/", ("127.0.0.1",))

    monkeypatch.setattr(outbound, "resolve", resolve)
    # The plugin of the library runs for real; only the host of the service is this machine.
    monkeypatch.setattr(NotifySlack, "webhook_url", f"http://127.0.0.1:{there.port}/services")
    there.status = 200
    channel, secret = notification_channels.create(
        tenant=cast.tenant,
        name="chat",
        target=Target("chat", "slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7F"),
        kinds=[],
        by=cast.by,
    )
    notification_channels.test(channel=channel, by=cast.by)
    clock.advance(60)
    delivering.run(clock)

    assert secret == ""
    # Each host of the service before the call, and where the connection goes.
    hosts = [f"https://{host}/" for host in BY_SCHEMA["slack"].hosts]
    assert resolved == [*hosts, f"http://127.0.0.1:{there.port}/"]
    ((_, body),) = there.got
    assert "This is a test" in json.dumps(json.loads(body))


def test_one_faulty_delivery_does_not_end_the_others(
    cast: domain.Cast, clock: Clock, happened: Callable[[], None]
) -> None:
    def send(delivery: Delivery, now: datetime) -> Outcome:
        if delivery.email == cast.owner.email:
            raise ValueError("a defect")
        return Outcome(1)

    happened()
    assert delivering.run(clock, {"mail": send}) == 2

    states = {row.email: row.state for row in Delivery.objects.all()}
    assert states == {cast.owner.email: State.WAITING, cast.member.email: State.DELIVERED}


def test_only_one_worker_sends(
    cast: domain.Cast, clock: Clock, happened: Callable[[], None]
) -> None:
    happened()
    assert leases.acquire("notifications", "another", 60)

    assert delivering.run(clock, {}) == 0
    assert not Delivery.objects.exists()
