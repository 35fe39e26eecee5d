"""Write events in the transaction of the change that they report (a transactional outbox).

After the commit a worker turns them into deliveries. If its task is lost, the periodic one finds
the rows.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import connection
from django.db.transaction import TransactionManagementError
from django.utils import timezone

from controlplane.core import enqueue, secrets
from tenants.models import Tenant
from tenants.notifications.event_kinds import BY_KEY
from tenants.notifications.models import Channel, Event


def write(
    kind: str,
    *,
    tenant: Tenant,
    key: str,
    fields: Mapping[str, Any],
    now: datetime | None = None,
) -> None:
    """Write an event of the tenant for everyone who wants this kind.

    ``key`` names what happened, once and for all: a second event with the same kind and key is
    ignored. So a caller that repeats its work after a crash notifies nobody twice. ``fields`` are
    JSON values; the texts of the kind need them. ``tenant`` and ``organization`` are added.

    Raises:
        TransactionManagementError: there is no open transaction.
        KeyError: there is no such kind.
    """
    _write(Event(kind=kind, tenant=tenant, dedup_key=key, fields=dict(fields)), now)


def write_to_channel(
    kind: str, *, channel: Channel, key: str, fields: Mapping[str, Any], now: datetime | None = None
) -> Event:
    """Write an event for one channel only, as ``write`` does; return the event.

    If an event with the same kind and key exists, the returned one is not stored.
    """
    event = Event(kind=kind, tenant=channel.tenant, dedup_key=key, fields=dict(fields))
    event.channel = channel
    return _write(event, now)


def write_to_address(
    kind: str, *, tenant: Tenant | None, email: str, key: str, fields: Mapping[str, Any]
) -> Event:
    """Write an event for one email address only, such as an invitation; return the event.

    ``tenant`` None: it concerns an account, and no tenant. If an event with the same kind and key
    exists, the returned one is not stored.
    """
    event = Event(kind=kind, tenant=tenant, dedup_key=key, fields=dict(fields), email=email)
    return _write(event, None)


def _write(event: Event, now: datetime | None) -> Event:
    if not connection.in_atomic_block:
        raise TransactionManagementError("an event needs the transaction of its change")
    kind = BY_KEY[event.kind]
    event.dedup_key = f"{kind.key}:{event.dedup_key}"[:200]
    event.occurred_at = now or timezone.now()
    event.fields |= {
        name: secrets.encrypt(event.fields[name]) for name in kind.secrets & event.fields.keys()
    }
    if event.tenant is not None:
        event.fields |= {"tenant": event.tenant.slug, "organization": event.tenant.name}
    # Not ``create``: a known key must not abort the transaction of the change.
    Event.objects.bulk_create([event], ignore_conflicts=True)
    enqueue.after_commit("workers.notify")
    return event
