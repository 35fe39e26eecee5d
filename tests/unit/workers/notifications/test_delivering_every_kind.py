"""Every kind of event goes its whole way: what causes it, then the mailbox and a signed webhook."""

from collections.abc import Iterator

import pytest
from django.core.cache import cache
from pytest_django import Settings

from controlplane.core import enqueue
from tenants.actions import notification_channels
from tenants.actions.notification_channels import Target
from tenants.models import Membership
from tenants.notifications import rendering
from tenants.notifications.event_kinds import BY_KEY
from tenants.notifications.models import (
    Attempt,
    Channel,
    Delivery,
    Event,
    MailboxMessage,
    PersonPreference,
    TenantPreference,
)
from tests.support.domain import Cast
from tests.support.notifications import causes, mails, receiver
from tests.support.notifications.causes import CAUSES
from tests.support.notifications.receiver import Receiver

pytestmark = pytest.mark.django_db
CHOOSABLE = [key for key in CAUSES if not (BY_KEY[key[0]].is_required or key[0] == "channel.test")]


@pytest.fixture(autouse=True)
def _here(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Webhooks may go to this machine; there is a cache, and no queue."""
    settings.WEBHOOK_ALLOWED_RANGES = ["127.0.0.0/8"]
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
    cache.clear()
    monkeypatch.setattr(enqueue, "_send", lambda *task: None)


@pytest.fixture
def there() -> Iterator[Receiver]:
    """A receiver of webhooks on this machine."""
    with receiver.running() as running:
        yield running


@pytest.fixture
def hooked(cast: Cast, there: Receiver) -> tuple[Channel, str]:
    """A webhook that gets every event, with its secret; staff who could get some."""
    causes.staff()
    return notification_channels.create(
        tenant=cast.tenant, name="hook", target=Target("webhook", there.url), kinds=[], by=cast.by
    )


def newest(kind: str) -> Event:
    return Event.objects.get(kind=kind)


def received(kind: str) -> list[MailboxMessage]:
    """Deliver what waits; return the mails in the mailbox with the subject of the event.

    That of the operator's staff differs.
    """
    event = newest(kind)
    subjects = {rendering.message(event, to_staff=to_staff).subject for to_staff in (False, True)}
    return [mail for mail in mails.delivered() if mail.subject in subjects]


def test_each_kind_has_a_cause() -> None:
    assert {kind for kind, _ in CAUSES} == set(BY_KEY)


@pytest.mark.parametrize("key", CAUSES, ids=" ".join)
def test_an_event_reaches_the_mailbox_and_the_webhook(
    key: tuple[str, str], cast: Cast, hooked: tuple[Channel, str], there: Receiver
) -> None:
    kind, cause = key[0], CAUSES[key]
    channel, secret = hooked
    cause.happen(cast, channel)
    found = received(kind)

    assert sorted(mail.recipients[0] for mail in found) == causes.addresses(cause, cast)
    hooks = [content for content in there.verified(secret) if content["type"] == kind]
    assert len(hooks) == cause.has_webhook
    deliveries = Delivery.objects.filter(event=newest(kind))
    assert {delivery.state for delivery in deliveries} == {Delivery.State.DELIVERED}
    # The log has one attempt of each.
    assert Attempt.objects.filter(delivery__in=deliveries).count() == len(found) + len(hooks)
    if hooks:
        delivery = deliveries.get(channel=channel)
        notification_channels.replay(delivery=delivery, by=cast.by)
        mails.delivered()
        again = [headers["webhook-id"] for headers, _ in there.got]
        assert again.count(delivery.event_id) == 2


@pytest.mark.parametrize("key", CHOOSABLE, ids=" ".join)
def test_the_tenant_turns_a_mail_off_and_a_person_turns_it_on(
    key: tuple[str, str], cast: Cast, hooked: tuple[Channel, str], there: Receiver
) -> None:
    kind, cause = key[0], CAUSES[key]
    TenantPreference.objects.create(tenant=cast.tenant, kind=kind, by_mail=False)
    member = Membership.objects.get(user=cast.owner)
    PersonPreference.objects.create(tenant=cast.tenant, user=member.user, kind=kind, by_mail=True)
    cause.happen(cast, hooked[0])

    to = {mail.recipients[0] for mail in received(kind)}
    assert to - {causes.STAFF, causes.BOOKS} == {cast.owner.email}
    assert kind in [content["type"] for content in there.verified(hooked[1])]
