"""Models of notifications: events, channels, deliveries, preferences, mailbox, alarms, troubles."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from controlplane.core import ids
from controlplane.core.models import Timestamped
from tenants.models import Address, AddressSpace, Tenant

_MAIL_LONGEST = 254  # characters of a mail address (RFC 5321, 4.5.3.1.3)


class Channel(Timestamped):
    """Where a tenant's events go in addition to mails to members: a webhook, a chat or a pager.

    * ``target_encrypted``: the URL, encrypted, because the URL of a chat holds its password.
      ``label`` is the part that pages may show.
    * ``secret_encrypted``: the secret that signs webhooks. The former secret signs too until
      ``former_secret_until``.
    * ``kinds``: keys of event kinds; an empty list means all.
    * ``failing_since``: the first failure after the last success; null while deliveries succeed.
    * ``disabled_at``: set if a member has disabled the channel, or Waypost has: after 12 hours of
      failures, or at once if the receiver answers 410.
    """

    class Kind(models.TextChoices):
        WEBHOOK = "webhook"
        CHAT = "chat"

    id = models.CharField(primary_key=True, max_length=40, default=ids.channel_id)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="channels")
    name = models.CharField(max_length=100)
    kind = models.CharField(max_length=10, choices=Kind.choices)
    target_encrypted = models.TextField()
    label = models.CharField(max_length=255)
    secret_encrypted = models.TextField(blank=True)
    former_secret_encrypted = models.TextField(blank=True)
    former_secret_until = models.DateTimeField(null=True)
    kinds = models.JSONField(default=list)
    failing_since = models.DateTimeField(null=True)
    disabled_at = models.DateTimeField(null=True)
    disabled_reason = models.CharField(max_length=300, blank=True)
    generation = models.BigIntegerField(default=1)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "name"], name="channel_name_once"),
            models.CheckConstraint(
                name="channel_webhook_iff_signed",
                condition=Q(kind="webhook") & ~Q(secret_encrypted="")
                | Q(kind="chat", secret_encrypted=""),
            ),
        ]


class Event(models.Model):
    """One event. ``tenants.notifications.outbox`` writes it in the transaction of its change.

    ``dedup_key`` is unique: an event that is written again is ignored. ``email`` or ``channel``
    name the only receiver of an event whose kind is addressed. ``routed_at`` is when its deliveries
    were created; null before.
    """

    id = models.CharField(primary_key=True, max_length=40, default=ids.event_id)
    kind = models.CharField(max_length=60)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, null=True, related_name="events")
    dedup_key = models.CharField(max_length=200, unique=True)
    fields = models.JSONField(default=dict)
    email = models.EmailField(blank=True)
    channel = models.ForeignKey(Channel, on_delete=models.CASCADE, null=True, related_name="+")
    occurred_at = models.DateTimeField(db_index=True)
    routed_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["occurred_at"], condition=Q(routed_at__isnull=True), name="event_unrouted"
            )
        ]


class Delivery(Timestamped):
    """One event for one receiver: a channel, a member (``user``), or an address (``email``).

    ``attempts`` counts those of the present series; a replay begins a new one. While a worker
    sends, ``next_attempt_at`` is when another one may try. ``reason`` says why the last attempt of
    the series failed, or why the delivery was dropped; empty after a success.
    """

    class State(models.TextChoices):
        WAITING = "waiting"
        DELIVERED = "delivered"
        FAILED = "failed"
        DROPPED = "dropped"

    id = models.CharField(primary_key=True, max_length=40, default=ids.delivery_id)
    event = models.ForeignKey(Event, on_delete=models.CASCADE, related_name="deliveries")
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, null=True, related_name="+")
    channel = models.ForeignKey(
        Channel, on_delete=models.CASCADE, null=True, related_name="deliveries"
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, null=True, related_name="+"
    )
    email = models.EmailField(blank=True)
    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING)
    attempts = models.PositiveSmallIntegerField(default=0)
    next_attempt_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    reason = models.CharField(max_length=300, blank=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["next_attempt_at"], condition=Q(state="waiting"), name="delivery_waiting"
            ),
            models.Index(fields=["channel", "-created_at"], name="delivery_of_channel"),
            models.Index(fields=["tenant", "-created_at"], name="delivery_of_tenant"),
            models.Index(
                fields=["ended_at"],
                condition=Q(state="failed", channel__isnull=True),
                name="delivery_mail_failed",
            ),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["event", "channel", "user", "email"],
                nulls_distinct=False,
                name="delivery_once",
            ),
            models.CheckConstraint(
                name="delivery_ended_iff_not_waiting",
                condition=Q(state="waiting", ended_at__isnull=True)
                | (~Q(state="waiting") & Q(ended_at__isnull=False)),
            ),
        ]


class Attempt(models.Model):
    """One attempt of a delivery: the HTTP status (null: no answer), duration and a short answer.

    ``error`` is why it counts as failed; empty after a success.
    """

    delivery = models.ForeignKey(Delivery, on_delete=models.CASCADE, related_name="log")
    at = models.DateTimeField()
    status = models.PositiveSmallIntegerField(null=True)
    duration_ms = models.PositiveIntegerField()
    response = models.TextField(blank=True)
    error = models.CharField(max_length=300, blank=True)


class PersonPreference(Timestamped):
    """Whether a person gets one kind of a tenant's events by mail. Key: (tenant, user, kind)."""

    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    kind = models.CharField(max_length=60)
    by_mail = models.BooleanField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "user", "kind"], name="person_preference_once"
            )
        ]


class TenantPreference(Timestamped):
    """Whether members of a tenant who chose nothing get one kind by mail. Key: (tenant, kind)."""

    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="+")
    kind = models.CharField(max_length=60)
    by_mail = models.BooleanField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "kind"], name="tenant_preference_once")
        ]


class SpendBudget(Timestamped):
    """The monthly budget of a tenant, in minor units of its plan's currency. It only warns."""

    tenant = models.OneToOneField(Tenant, on_delete=models.CASCADE, related_name="spend_budget")
    amount_minor = models.BigIntegerField()

    class Meta:
        constraints = [
            models.CheckConstraint(name="spend_budget_positive", condition=Q(amount_minor__gt=0))
        ]


class MailboxMessage(models.Model):
    """A mail that an installation without an SMTP server keeps for its operator to read."""

    at = models.DateTimeField(auto_now_add=True, db_index=True)
    sender = models.CharField(max_length=_MAIL_LONGEST)
    recipients = models.JSONField()
    subject = models.CharField(max_length=998)  # the longest line of a mail (RFC 5322)
    text = models.TextField(blank=True)
    html = models.TextField(blank=True)


class AddressAlarm(Timestamped):
    """A rule that warns if an address reaches a threshold, and its state.

    * ``metric``: ``depth`` (messages) or ``age`` (seconds of the oldest message).
    * The alarm is raised when the value has been ``threshold`` or more for ``for_seconds``, and
      cleared when it is below ``clear_below``.
    * ``breached_since``: since when the value is too high; null while it is not.
    * ``raised_at``: null while the alarm is not raised.
    * ``due_at``: when the rule must be evaluated even if no value changes; null: then never.
    """

    class Metric(models.TextChoices):
        DEPTH = "depth"
        AGE = "age"

    id = models.CharField(primary_key=True, max_length=40, default=ids.alarm_id)
    address = models.ForeignKey(Address, on_delete=models.CASCADE, related_name="alarms")
    # Of the address, so that a sampling cycle of the space finds its alarms by one index.
    space = models.ForeignKey(AddressSpace, on_delete=models.CASCADE, related_name="alarms")
    metric = models.CharField(max_length=10, choices=Metric.choices)
    threshold = models.BigIntegerField()
    clear_below = models.BigIntegerField()
    for_seconds = models.PositiveIntegerField(default=0)
    generation = models.BigIntegerField(default=1)
    breached_since = models.DateTimeField(null=True)
    raised_at = models.DateTimeField(null=True)
    last_value = models.BigIntegerField(null=True)
    due_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["space", "due_at"], condition=Q(due_at__isnull=False), name="alarm_due"
            ),
            models.Index(
                fields=["raised_at"], condition=Q(raised_at__isnull=False), name="alarm_raised"
            ),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["address", "metric", "threshold", "for_seconds"], name="alarm_once"
            ),
            models.CheckConstraint(
                name="alarm_clears_below_threshold",
                condition=Q(threshold__gte=1, clear_below__gte=1)
                & Q(clear_below__lte=models.F("threshold")),
            ),
        ]


class SpaceTrouble(models.Model):
    """A time in which a space was not ready, long enough to notify people. One is open at most."""

    space = models.ForeignKey(AddressSpace, on_delete=models.CASCADE, related_name="troubles")
    began_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["space"], condition=Q(ended_at__isnull=True), name="space_trouble_one_open"
            )
        ]
