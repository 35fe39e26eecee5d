"""Rows of notifications, as the actions make them, with ids that tests may choose."""

from typing import Any

from django.utils import timezone

from controlplane.core import secrets
from tenants.models import Address, Tenant
from tenants.notifications.event_kinds import BY_KEY
from tenants.notifications.models import AddressAlarm, Channel, Delivery, Event

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
URL = "https://hooks.example/path-with-a-key"


def webhook(tenant: Tenant, name: str = "hook", **more: Any) -> Channel:
    """Return a webhook of ``tenant`` that gets every event."""
    return Channel.objects.create(
        tenant=tenant,
        name=name,
        kind=Channel.Kind.WEBHOOK,
        target_encrypted=secrets.encrypt(URL),
        label="https://hooks.example",
        secret_encrypted=secrets.encrypt(SECRET),
        **more,
    )


def delivery(channel: Channel, **more: Any) -> Delivery:
    """Return a delivery of an alarm to ``channel`` that waits."""
    kind = BY_KEY["alarm.raised"]
    event = Event.objects.create(
        kind=kind.key,
        tenant=channel.tenant,
        dedup_key=f"{kind.key}:{Event.objects.count()}",
        fields={**kind.sample, "tenant": channel.tenant.slug, "organization": "Acme"},
        occurred_at=timezone.now(),
        routed_at=timezone.now(),
    )
    return Delivery.objects.create(
        event=event,
        tenant=channel.tenant,
        channel=channel,
        next_attempt_at=timezone.now(),
        **more,
    )


def alarm(address: Address, metric: str = "depth", threshold: int = 100, **more: Any) -> Any:
    """Return an alarm of ``address`` that was never evaluated."""
    values = {"clear_below": threshold * 8 // 10, "due_at": timezone.now(), **more}
    return AddressAlarm.objects.create(
        address=address, space=address.space, metric=metric, threshold=threshold, **values
    )
