"""Create, change, test and delete the channels of a tenant, and replay deliveries to them."""

import base64
import secrets as random_source
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from controlplane.core import audit, enqueue, ids, outbound, secrets
from controlplane.core.audit import Actor
from controlplane.core.errors import Conflict, Invalid, Missing
from tenants import admission
from tenants.models import Tenant
from tenants.notifications import chat_services, outbox
from tenants.notifications.event_kinds import BY_KEY, CHOOSABLE
from tenants.notifications.models import Channel, Delivery

MOST = 20  # channels of a tenant
# How long the former secret signs too, so that receivers can change theirs.
FORMER_SECRET_VALID = timedelta(hours=24)
Kind = Channel.Kind


@dataclass(frozen=True)
class Target:
    """What a new channel is: ``kind`` is ``webhook`` or ``chat``, and ``url`` where it goes."""

    kind: str
    url: str


def create(
    *, tenant: Tenant, name: str, target: Target, kinds: Sequence[str], by: Actor
) -> tuple[Channel, str]:
    """Create a channel; return it with the secret that signs its webhooks, empty for a chat.

    The secret is stored encrypted. ``kinds`` are keys of event kinds; none means all of them.

    Raises:
        Invalid: a kind is unknown, or the name is empty or too long.
        TargetRefused: the URL is not one to which webhooks may go. ChatRefused: the URL is not one
        of a chat or pager to which Waypost sends.
        Conflict: the tenant has a channel of this name, or 20 channels.
    """
    label = _label(target)
    secret = _new_secret() if target.kind == Kind.WEBHOOK else ""
    with transaction.atomic():
        locked = admission.locked_tenant(tenant)
        others = Channel.objects.filter(tenant=locked)
        if others.count() >= MOST:
            raise Conflict(f"A tenant has at most {MOST} channels.", code="channel.too_many")
        channel = Channel.objects.create(
            tenant=locked,
            name=_free_name(others, name),
            kind=target.kind,
            target_encrypted=secrets.encrypt(target.url),
            label=label,
            secret_encrypted=secrets.encrypt(secret) if secret else "",
            kinds=_known(kinds),
        )
        after = {"kind": channel.kind, "to": label, "events": channel.kinds}
        audit.record(by, "channel.create", subject(channel), after=after)
    return channel, secret


def update(
    *,
    channel: Channel,
    by: Actor,
    name: str | None = None,
    url: str | None = None,
    kinds: Sequence[str] | None = None,
    enabled: bool | None = None,
) -> Channel:
    """Change what is not None; return the changed channel. An equal value changes nothing.

    Enabling a channel forgets its earlier failures.

    Raises:
        The errors of ``create``, except that of too many channels. Missing: the channel was deleted
        meanwhile.
    """
    with transaction.atomic():
        row = _locked(channel)
        before = _shown(row)
        if name is not None and name != row.name:
            row.name = _free_name(Channel.objects.filter(tenant=row.tenant_id), name)
        if url is not None:
            row.label = _label(Target(row.kind, url))
            if url != secrets.decrypt(row.target_encrypted):
                row.target_encrypted = secrets.encrypt(url)
                row.failing_since = None
                before["url"] = ""  # another URL of the same host is a change too
        if kinds is not None:
            row.kinds = _known(kinds)
        if enabled is not None and enabled != (row.disabled_at is None):
            row.disabled_at = None if enabled else timezone.now()
            row.disabled_reason = "" if enabled else "a member has disabled it."
            row.failing_since = None
        after = _shown(row)
        if after != before:
            row.generation += 1
            row.save()
            changed = {key: after.get(key) for key in after if after[key] != before.get(key)}
            audit.record(by, "channel.update", subject(row), after=changed or {"url": "changed"})
    return row


@contextmanager
def held(channel: Channel) -> Iterator[Channel]:
    """Run the block in a transaction that locks the channel; yield the channel as it is now.

    A caller that compares a change with the channel, as ``require_changed`` does, needs this row.

    Raises:
        Missing: the channel was deleted meanwhile.
    """
    with transaction.atomic():
        yield _locked(channel)


def rotate_secret(*, channel: Channel, by: Actor) -> tuple[Channel, str]:
    """Give a webhook a new secret; return the channel and the secret.

    The former secret signs too for 24 hours.

    Raises:
        Conflict: the channel is no webhook. Missing: it was deleted meanwhile.
    """
    with transaction.atomic():
        row = _locked(channel)
        if row.kind != Kind.WEBHOOK:
            raise Conflict("Only webhooks have a secret.", code="channel.no_secret")
        secret = _new_secret()
        row.former_secret_encrypted = row.secret_encrypted
        row.former_secret_until = timezone.now() + FORMER_SECRET_VALID
        row.secret_encrypted = secrets.encrypt(secret)
        row.generation += 1
        row.save()
        audit.record(by, "channel.rotate", subject(row))
    return row, secret


def delete(*, channel: Channel, by: Actor) -> None:
    """Delete a channel with its deliveries. Idempotent."""
    with transaction.atomic():
        row = Channel.objects.select_for_update(of=("self",)).filter(pk=channel.pk).first()
        if row is not None:
            audit.record(by, "channel.delete", subject(row), before={"to": row.label})
            row.delete()


def test(*, channel: Channel, by: Actor) -> None:
    """Write a test event for the channel alone. It is sent even if the channel is disabled.

    Raises:
        Missing: the channel was deleted meanwhile.
    """
    with transaction.atomic():
        channel = _locked(channel)
        # A new key each time: the outbox writes an event of one key only once.
        outbox.write_to_channel(
            "channel.test", channel=channel, key=ids.new("tst"), fields={"channel": channel.name}
        )
        audit.record(by, "channel.test", subject(channel))


def replay(*, delivery: Delivery, by: Actor) -> Delivery:
    """Queue a delivery again, also one that still waits; return it.

    It is due at once, and its attempts start from 0.

    Raises:
        Conflict: the channel is disabled. Missing: the delivery was deleted meanwhile.
    """
    with transaction.atomic():
        row = Delivery.objects.select_for_update(of=("self",)).filter(pk=delivery.pk).first()
        if row is None:
            raise Missing("This delivery was deleted meanwhile.", code="delivery.missing")
        channel = row.channel
        assert channel is not None
        if channel.disabled_at is not None:
            raise Conflict("Enable the channel before you replay.", code="channel.disabled")
        row.state, row.ended_at, row.reason = Delivery.State.WAITING, None, ""
        row.attempts, row.next_attempt_at = 0, timezone.now()
        row.save()
        audit.record(by, "delivery.replay", subject(channel), after={"delivery": row.pk})
        enqueue.after_commit("workers.notify")
    return row


def subject(channel: Channel) -> audit.Subject:
    """Return the channel as the subject of an audit event."""
    return audit.Subject("channel", channel.pk, channel.name, channel.tenant_id)


def _locked(channel: Channel) -> Channel:
    rows = Channel.objects.select_for_update(of=("self",)).select_related("tenant")
    row = rows.filter(pk=channel.pk).first()
    if row is None:
        raise Missing("This channel was deleted meanwhile.", code="channel.missing")
    return row


def _shown(channel: Channel) -> dict[str, object]:
    return {
        "name": channel.name,
        "to": channel.label,
        "events": list(channel.kinds),
        "enabled": channel.disabled_at is None,
    }


def _label(target: Target) -> str:
    """Return the part of a checked URL that pages may show: a webhook's host, a chat's service."""
    if target.kind == Kind.WEBHOOK:
        parts = outbound.check(target.url)
        # The path and the query may hold a secret of the receiver.
        return f"{parts.scheme}://{parts.netloc}"[:255]
    if target.kind == Kind.CHAT:
        return chat_services.check(target.url).title
    raise _invalid("kind", f"One of: {', '.join(Kind.values)}.")


def _free_name(others: QuerySet[Channel, Channel], name: str) -> str:
    name = name.strip()
    if not 1 <= len(name) <= 100 or not name.isprintable():
        raise _invalid("name", "1 to 100 printable characters.")
    if others.filter(name=name).exists():
        raise Conflict(f"There is a channel {name!r} already.", code="channel.exists")
    return name


def _known(kinds: Sequence[str]) -> list[str]:
    choosable = {kind.key for kind in CHOOSABLE}
    unknown = [kind for kind in kinds if kind not in choosable]
    if unknown:
        raise _invalid("kinds", f"There is no kind {unknown[0][:60]!r}.")
    # In one order, so that the same choice in another order is no change.
    return [key for key in BY_KEY if key in set(kinds)]


def _invalid(field: str, reason: str) -> Invalid:
    message = "The channel is not valid: see the fields."
    return Invalid(message, code="channel.invalid", **{field: [reason]})


def _new_secret() -> str:
    # As the Standard Webhooks scheme writes secrets, so that its libraries accept it.
    return "whsec_" + base64.b64encode(random_source.token_bytes(32)).decode()
