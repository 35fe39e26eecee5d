"""Turn events into deliveries: one for each channel and each person who gets the event."""

from collections.abc import Iterator
from datetime import datetime

from django.db import transaction

from tenants.models import Tenant, User
from tenants.notifications import preferences
from tenants.notifications.event_kind import EventKind
from tenants.notifications.event_kinds import BY_KEY
from tenants.notifications.models import Channel, Delivery, Event

_AT_ONCE = 100  # events in one transaction


def route(now: datetime) -> int:
    """Create the deliveries of up to 100 new events, oldest first; return how many events.

    Idempotent. Events that another worker routes at this moment are skipped, and so are those of a
    kind that only a newer version of Waypost knows.
    """
    with transaction.atomic():
        waiting = (
            Event.objects.select_for_update(skip_locked=True, of=("self",))
            .select_related("tenant", "channel")
            .filter(routed_at__isnull=True, kind__in=BY_KEY)
        )
        events = list(waiting.order_by("occurred_at", "id")[:_AT_ONCE])
        made = [delivery for event in events for delivery in _deliveries(event, now)]
        Delivery.objects.bulk_create(made, ignore_conflicts=True)
        Event.objects.filter(pk__in=[event.pk for event in events]).update(routed_at=now)
    return len(events)


def _deliveries(event: Event, now: datetime) -> Iterator[Delivery]:
    kind, tenant = BY_KEY[event.kind], event.tenant
    new = {"event": event, "tenant": tenant, "next_attempt_at": now}
    if event.channel is not None:
        yield Delivery(channel=event.channel, **new)
        return
    if event.email:
        yield Delivery(email=event.email, **new)
        return
    if tenant is None:
        return
    for user, email in _readers(tenant, kind):
        yield Delivery(user=user, email=email, **new)
    for channel in Channel.objects.filter(tenant=tenant, disabled_at__isnull=True).order_by("id"):
        if not channel.kinds or event.kind in channel.kinds:
            yield Delivery(channel=channel, **new)


def _readers(tenant: Tenant, kind: EventKind) -> Iterator[tuple[User | None, str]]:
    """Yield the account, if there is one, and the address of everyone who gets ``kind`` by mail."""
    people = set()  # a member who is staff too gets one mail
    addresses = set()
    for member in preferences.receivers(tenant, kind):
        people.add(member.user_id)
        addresses.add(member.user.email.casefold())
        yield member.user, member.user.email
    if kind.to_invoice_email and tenant.billing_email.casefold() not in {"", *addresses}:
        yield None, tenant.billing_email
    if kind.to_staff:
        for user in User.objects.filter(is_staff=True, is_active=True).order_by("id"):
            if user.pk not in people:
                yield user, user.email
