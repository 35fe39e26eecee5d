"""Models of payments through a provider, refunds, disputes, and of the dunning of unpaid invoices.

``Payment`` itself is in ``plans.models.invoice``. No row holds a card, a bank account or any other
means of payment: only the provider keeps those.
"""

from django.db import models
from django.db.models import F, Q

from controlplane.core import ids
from controlplane.core.models import Timestamped


class Checkout(Timestamped):
    """A page at a provider on which somebody can pay an invoice.

    Key: (provider, reference), the provider's name of the page. ``url`` leads there until
    ``expires_at``. The row says nothing about a payment: only an event of the provider does.
    """

    id = models.CharField(primary_key=True, max_length=40, default=ids.checkout_id)
    invoice = models.ForeignKey("plans.Invoice", on_delete=models.PROTECT, related_name="checkouts")
    provider = models.CharField(max_length=40)
    reference = models.CharField(max_length=120)
    url = models.TextField()
    amount_minor = models.BigIntegerField()
    requested_by = models.CharField(max_length=255)
    expires_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["provider", "reference"], name="checkout_once"),
            models.CheckConstraint(name="checkout_positive", condition=Q(amount_minor__gt=0)),
        ]


# Events that staff must look at: refused, or their effect fails. An index has exactly these.
_TO_LOOK_AT = Q(state="refused") | (Q(state="waiting") & ~Q(message=""))


class PaymentEvent(Timestamped):
    """What a provider reported: a payment, a refund, a dispute. Key: (provider, event_id).

    A second delivery of an event finds the row, so the delivery has no effect. ``fields`` are the
    few values of the event that Waypost uses. ``state`` is one of these:

    - ``waiting``: the event is not applied yet, its payment is not known, or its effect failed,
      which ``message`` says then. A task tries again.
    - ``applied``: the event had its effect.
    - ``ignored``: the event has no effect, such as one of a kind that Waypost does not use.
    - ``refused``: the event cannot be applied, and ``message`` says why. Staff must look at it.
    """

    class State(models.TextChoices):
        WAITING = "waiting"
        APPLIED = "applied"
        IGNORED = "ignored"
        REFUSED = "refused"

    TO_LOOK_AT = _TO_LOOK_AT

    id = models.CharField(primary_key=True, max_length=40, default=ids.payment_event_id)
    provider = models.CharField(max_length=40)
    event_id = models.CharField(max_length=200)
    kind = models.CharField(max_length=40)
    occurred_at = models.DateTimeField()
    received_at = models.DateTimeField()
    fields = models.JSONField(default=dict)
    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING)
    message = models.TextField(blank=True)
    invoice = models.ForeignKey(
        "plans.Invoice", on_delete=models.PROTECT, null=True, related_name="payment_events"
    )

    class Meta:
        indexes = [
            models.Index(
                fields=["received_at"],
                name="payment_event_waiting",
                condition=Q(state="waiting"),
            ),
            models.Index(
                fields=["-received_at", "-id"],
                name="payment_event_to_look_at",
                condition=_TO_LOOK_AT,
            ),
        ]
        constraints = [
            models.UniqueConstraint(fields=["provider", "event_id"], name="payment_event_once"),
        ]


class Refund(Timestamped):
    """Money of a payment that went back: a refund, or what a lost dispute took (``chargeback``).

    Of the amount, ``credit_minor`` comes from the tenant's credit. The rest, ``reopened_minor``, is
    due again for the invoice. ``reference`` is the provider's or the bank's; empty while the
    provider has not answered yet. From ``next_attempt_at`` on, a worker asks the provider again
    (null: a minute after the request). A failed refund is booked back and counts no more. Only
    ``state``, ``reference``, ``message`` and ``next_attempt_at`` ever change.
    """

    class Kind(models.TextChoices):
        REFUND = "refund"
        CHARGEBACK = "chargeback"

    class State(models.TextChoices):
        REQUESTED = "requested"
        PENDING = "pending"
        SUCCEEDED = "succeeded"
        FAILED = "failed"

    id = models.CharField(primary_key=True, max_length=40, default=ids.refund_id)
    payment = models.ForeignKey("plans.Payment", on_delete=models.PROTECT, related_name="refunds")
    # The invoice of the payment, so that the sum over an invoice needs no join.
    invoice = models.ForeignKey("plans.Invoice", on_delete=models.PROTECT, related_name="refunds")
    kind = models.CharField(max_length=12, choices=Kind.choices, default=Kind.REFUND)
    reference = models.CharField(max_length=120, blank=True)
    amount_minor = models.BigIntegerField()
    credit_minor = models.BigIntegerField()
    reopened_minor = models.BigIntegerField()
    state = models.CharField(max_length=10, choices=State.choices, default=State.REQUESTED)
    reason = models.TextField()
    message = models.TextField(blank=True)
    requested_by = models.CharField(max_length=255)
    requested_at = models.DateTimeField()
    next_attempt_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["requested_at"], name="refund_requested", condition=Q(state="requested")
            ),
        ]
        constraints = [
            # Several refunds may wait for the provider's answer, and none of them has a reference.
            models.UniqueConstraint(
                fields=["payment", "kind", "reference"],
                name="refund_once",
                condition=~Q(reference=""),
            ),
            models.CheckConstraint(
                name="refund_sums",
                condition=Q(amount_minor=F("credit_minor") + F("reopened_minor"))
                & Q(amount_minor__gt=0, credit_minor__gte=0, reopened_minor__gte=0),
            ),
        ]


class PaymentDispute(Timestamped):
    """A dispute: the payer's bank takes a payment back, unless the seller proves its claim.

    Key: (payment, reference of the provider). A lost dispute has a ``Refund`` of the kind
    ``chargeback``, which books the money that the bank took.
    """

    class State(models.TextChoices):
        OPEN = "open"
        WON = "won"
        LOST = "lost"

    id = models.CharField(primary_key=True, max_length=40, default=ids.payment_dispute_id)
    payment = models.ForeignKey("plans.Payment", on_delete=models.PROTECT, related_name="disputes")
    source = models.CharField(max_length=40)
    reference = models.CharField(max_length=120)
    amount_minor = models.BigIntegerField()
    reason = models.CharField(max_length=200, blank=True)
    state = models.CharField(max_length=6, choices=State.choices, default=State.OPEN)
    opened_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["payment", "reference"], name="payment_dispute_once"),
        ]


class DunningCase(Timestamped):
    """One unpaid invoice on its way from the first reminder to the suspension of its tenant.

    ``limit_at`` is from when the tenant's clients cannot send, ``suspend_at`` from when their
    connections are refused (null: never). The notice to the tenant names both instants.
    ``noticed_at`` is the time of the last notice. ``ended_at`` is when a pass found the invoice not
    overdue any more.
    """

    id = models.CharField(primary_key=True, max_length=40, default=ids.dunning_case_id)
    invoice = models.ForeignKey(
        "plans.Invoice", on_delete=models.PROTECT, related_name="dunning_cases"
    )
    tenant = models.ForeignKey("tenants.Tenant", on_delete=models.PROTECT, related_name="+")
    opened_at = models.DateTimeField()
    noticed_at = models.DateTimeField()
    limit_at = models.DateTimeField(null=True)
    suspend_at = models.DateTimeField(null=True)
    # The days after the due time whose reminders were written.
    reminded_days = models.JSONField(default=list)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            # Ended cases stay, and an invoice may become unpaid again, such as by a refund.
            models.UniqueConstraint(
                fields=["invoice"], name="dunning_case_once", condition=Q(ended_at__isnull=True)
            ),
        ]


class DunningPause(models.Model):
    """Staff pause the dunning of a tenant, with a reason, until ``until`` (null: for ever).

    ``ended_at`` is when the pause ended: staff ended it, another pause replaced it, or a pass found
    that its time was over.
    """

    tenant = models.ForeignKey("tenants.Tenant", on_delete=models.PROTECT, related_name="+")
    reason = models.TextField()
    paused_by = models.CharField(max_length=255)
    paused_at = models.DateTimeField()
    until = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["tenant"], name="dunning_pause_once", condition=Q(ended_at__isnull=True)
            ),
        ]
