"""Claim deliveries that are due, and store how each attempt ended. Workers call it.

    waiting -> delivered | failed | dropped        failed | dropped | delivered -> waiting (replay)

A claim moves ``next_attempt_at`` ahead before the attempt. So if the worker is killed, another one
tries again after that time: a delivery arrives at least once, and rarely twice.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F, Q, Window
from django.db.models.functions import Coalesce, RowNumber

from plans.models import CatalogDraft
from tenants.models import Membership
from tenants.notifications import outbox
from tenants.notifications.event_kinds import BY_KEY
from tenants.notifications.models import Attempt, Channel, Delivery, Event, MailboxMessage
from tenants.notifications.preferences import may_get

# Seconds between an attempt and the next: almost 24 hours in all, the first ones soon.
BACKOFF_SECONDS = (5, 30, 120, 600, 1800, 3600, 7200, 14400, 28800, 28800)
# A channel is disabled after this time in which every delivery failed.
DISABLE_AFTER = timedelta(hours=12)
# Longer than any attempt lasts. Then the worker that claimed the delivery must have been killed.
LEASE = timedelta(seconds=120)
KEPT = timedelta(days=30)  # then an event and its deliveries are deleted
# So many of one receiver at once, so that a slow receiver leaves time for the others.
_OF_ONE_RECEIVER = 4
_LONGEST_RESPONSE = 1000  # characters of a receiver's answer that are stored
_LONGEST_RETRY_SECONDS = 86400  # that a receiver may ask for

State = Delivery.State


@dataclass(frozen=True)
class Outcome:
    """How one attempt ended.

    * ``error``: why it failed; empty after a success.
    * ``status``: the HTTP status; None if there is none.
    * ``response``: the beginning of the answer's body.
    * ``retry_after_seconds``: how long the receiver asks to wait (``Retry-After``); None: it did
      not say.
    * ``is_gone``: the receiver never wants any delivery again (HTTP 410).
    * ``is_final``: another attempt cannot succeed.
    """

    duration_ms: int
    error: str = ""
    status: int | None = None
    response: str = ""
    retry_after_seconds: int | None = None
    is_gone: bool = False
    is_final: bool = False


def claim(now: datetime, limit: int) -> list[Delivery]:
    """Claim up to ``limit`` deliveries that are due, oldest first; count the attempt of each.

    Returns them with event, channel and tenant loaded. At most four are of the same receiver.
    """
    # Chosen first and locked then: PostgreSQL allows no FOR UPDATE with window functions.
    order = Window(
        RowNumber(),
        partition_by=Coalesce("channel_id", "email"),
        order_by=[F("next_attempt_at").asc(), F("id").asc()],
    )
    # Kinds that only a newer version knows wait for its workers.
    due = Delivery.objects.filter(
        state=State.WAITING, next_attempt_at__lte=now, event__kind__in=BY_KEY
    )
    chosen = due.annotate(position=order).filter(position__lte=_OF_ONE_RECEIVER)
    ids = list(chosen.order_by("next_attempt_at", "id").values_list("id", flat=True)[:limit])
    with transaction.atomic():
        # Of those that are still due: another worker may have claimed some in between.
        free = due.select_for_update(skip_locked=True, of=("self",)).filter(pk__in=ids)
        rows = list(free.select_related("event__tenant", "channel", "tenant", "user"))
        for row in rows:
            row.attempts += 1
            row.next_attempt_at = now + LEASE
        Delivery.objects.bulk_update(rows, ["attempts", "next_attempt_at"])
    return rows


def why_dropped(delivery: Delivery) -> str:
    """Return why a claimed delivery must not be sent any more; empty if it must.

    A person may have left the team, a channel may be disabled, or the tenant may have another
    email for invoices, since the event.
    """
    channel, kind = delivery.channel, BY_KEY[delivery.event.kind]
    if channel is not None:
        is_test = delivery.event.channel_id == channel.pk
        return "The channel is disabled." if channel.disabled_at and not is_test else ""
    user, tenant = delivery.user, delivery.tenant
    if user is None:
        is_former = kind.to_invoice_email and tenant and tenant.billing_email != delivery.email
        return "The email for invoices has changed." if is_former else ""
    if not user.is_active:
        return "The account is disabled."
    if kind.to_staff and user.is_staff:
        return ""
    role = Membership.objects.filter(tenant=tenant, user=user).values_list("role").first()
    return "" if role and may_get(role[0], kind) else "The person may not see this any more."


def is_to_staff(delivery: Delivery) -> bool:
    """Return whether a person gets the event as staff, who cannot open the pages of the tenant."""
    user = delivery.user
    if user is None or not user.is_staff or not BY_KEY[delivery.event.kind].to_staff:
        return False
    return not Membership.objects.filter(tenant=delivery.tenant, user=user).exists()


def drop(delivery: Delivery, reason: str, now: datetime) -> None:
    """End a waiting delivery without an attempt. Idempotent."""
    waiting = Delivery.objects.filter(pk=delivery.pk, state=State.WAITING)
    waiting.update(state=State.DROPPED, reason=reason[:300], ended_at=now)


@transaction.atomic
def record(claimed: Delivery, outcome: Outcome, now: datetime) -> None:
    """Store an attempt, and what follows: the end of the delivery, or when to try again.

    A success of a worker whose claim another one has taken over counts; its failure does not.
    """
    # The channel first, as in every other change of a channel and its deliveries: two failures that
    # disable it, or its deletion, would deadlock otherwise. No key: new deliveries need not wait.
    channels = Channel.objects.select_for_update(of=("self",), no_key=True).select_related("tenant")
    channel = channels.filter(pk=claimed.channel_id).first() if claimed.channel_id else None
    row = Delivery.objects.select_for_update(of=("self",)).filter(pk=claimed.pk).first()
    if row is None:  # deleted with its channel
        return
    Attempt.objects.create(
        delivery=row,
        at=now,
        status=outcome.status,
        duration_ms=outcome.duration_ms,
        response=outcome.response[:_LONGEST_RESPONSE].replace("\x00", ""),
        error=outcome.error[:300],
    )
    if row.state != State.WAITING:
        return  # it ended meanwhile, for example with its channel; the log keeps the attempt
    if not outcome.error:
        _end(row, State.DELIVERED, "", now)
        if channel is not None:
            channel.failing_since = None
            channel.save(update_fields=["failing_since", "updated_at"])
        return
    if row.attempts != claimed.attempts:
        return  # claimed by another worker since, which decides what follows
    if outcome.is_final or row.attempts > len(BACKOFF_SECONDS):
        _end(row, State.FAILED, outcome.error, now)
    else:
        # A receiver may ask for more time (Retry-After: RFC 9110, 10.2.3), never for less.
        wished = min(outcome.retry_after_seconds or 0, _LONGEST_RETRY_SECONDS)
        seconds = max(BACKOFF_SECONDS[row.attempts - 1], wished)
        row.next_attempt_at = now + timedelta(seconds=seconds)
        row.reason = outcome.error[:300]
        row.save(update_fields=["next_attempt_at", "reason", "updated_at"])
    if channel is not None:
        _count_failure(channel, outcome, now)


def _end(row: Delivery, state: str, reason: str, now: datetime) -> None:
    row.state, row.reason, row.ended_at = state, reason[:300], now
    row.save(update_fields=["state", "reason", "ended_at", "updated_at"])


def _count_failure(row: Channel, outcome: Outcome, now: datetime) -> None:
    """Store that a locked channel fails; disable it if that lasts, or if the receiver is gone."""
    if row.disabled_at is not None:
        return
    row.failing_since = row.failing_since or now
    if outcome.is_gone:
        disable(row, "the receiver answered 410: it wants no more deliveries.", now)
    elif now - row.failing_since >= DISABLE_AFTER:
        hours = int(DISABLE_AFTER.total_seconds() // 3600)
        disable(row, f"every delivery has failed for {hours} hours.", now)
    else:
        row.save(update_fields=["failing_since", "updated_at"])


def disable(channel: Channel, reason: str, now: datetime) -> None:
    """Disable a channel whose row is locked, end its waiting deliveries, and write an event."""
    channel.disabled_at, channel.disabled_reason = now, reason
    channel.save(update_fields=["failing_since", "disabled_at", "disabled_reason", "updated_at"])
    waiting = Delivery.objects.filter(channel=channel, state=State.WAITING)
    waiting.update(state=State.DROPPED, reason="The channel is disabled.", ended_at=now)
    outbox.write(
        "channel.disabled",
        tenant=channel.tenant,
        key=f"{channel.pk}:{now.isoformat()}",
        fields={"channel": channel.name, "channel_id": channel.pk, "reason": reason},
        now=now,
    )


def delete_old(now: datetime) -> int:
    """Delete events, with their deliveries, and mails in the mailbox after 30 days. Idempotent.

    An event with a delivery that still waits stays. So does the notice of a scheduled catalog:
    should it be canceled, its receivers are told. Returns the number of deleted rows.
    """
    # One that was replayed may still wait.
    events = Event.objects.filter(occurred_at__lt=now - KEPT).exclude(
        deliveries__state=State.WAITING
    )
    scheduled = CatalogDraft.objects.filter(
        Q(state=CatalogDraft.State.SCHEDULED) | Q(is_announced=False)
    )
    for draft_id in scheduled.values_list("pk", flat=True):
        events = events.exclude(dedup_key__startswith=f"plan.version:{draft_id}:")
    mails = MailboxMessage.objects.filter(at__lt=now - KEPT)
    return events.delete()[0] + mails.delete()[0]
