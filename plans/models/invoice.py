"""Invoices, their lines and history, payments and the ledger."""

from django.db import models
from django.db.models import Q

from controlplane.core import ids
from controlplane.core.models import Timestamped


class InvoiceNumberSeries(models.Model):
    """The gapless counter of one legal entity; locked in the issuing transaction."""

    legal_entity = models.CharField(primary_key=True, max_length=63)
    last_number = models.PositiveBigIntegerField(default=0)


class Invoice(Timestamped):
    """The bill of one tenant for one period [starts_at, ends_at). Key: (tenant, starts_at).

    open -> closing -> held | draft -> approved -> issuing -> issued -> paid | partly_paid |
    overdue -> uncollectible. Nothing but ``state`` changes after issue: ``document`` is the
    canonical JSON (its bytes are what ``verify`` must give again), ``manifest`` pins table ids
    and versions, catalogue version, engine version, rounding rule and the hash of sample ids.
    Amounts are integers in minor units of ``currency`` (ISO 4217).
    """

    class State(models.TextChoices):
        OPEN = "open"
        CLOSING = "closing"
        HELD = "held"
        DRAFT = "draft"
        APPROVED = "approved"
        ISSUING = "issuing"
        ISSUED = "issued"
        PARTLY_PAID = "partly_paid"
        PAID = "paid"
        OVERDUE = "overdue"
        UNCOLLECTIBLE = "uncollectible"
        VOIDED = "voided"

    id = models.CharField(primary_key=True, max_length=40, default=ids.invoice_id)
    tenant = models.ForeignKey("tenants.Tenant", on_delete=models.PROTECT, related_name="invoices")
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField()
    state = models.CharField(max_length=16, choices=State.choices, default=State.OPEN)
    held_reasons = models.JSONField(default=list)  # [{code, message}]
    legal_entity = models.CharField(max_length=63, blank=True)
    number = models.CharField(max_length=40, unique=True, null=True)  # noqa: DJ001 - not yet
    currency = models.CharField(max_length=3, blank=True)
    net_minor = models.BigIntegerField(default=0)
    tax_minor = models.BigIntegerField(default=0)
    total_minor = models.BigIntegerField(default=0)
    # Of the total: what earlier credit settles; below zero what becomes credit of later invoices.
    credit_minor = models.BigIntegerField(default=0)
    document = models.TextField(blank=True)
    manifest = models.JSONField(default=dict)
    quality = models.JSONField(default=dict)
    issued_at = models.DateTimeField(null=True)
    due_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "starts_at"], name="invoice_period_once"),
            models.CheckConstraint(
                name="invoice_forward", condition=Q(ends_at__gt=models.F("starts_at"))
            ),
            models.CheckConstraint(
                name="invoice_sums",
                condition=Q(total_minor=models.F("net_minor") + models.F("tax_minor")),
            ),
            models.CheckConstraint(
                name="invoice_payable",
                condition=Q(number__isnull=True) | Q(total_minor__gte=models.F("credit_minor")),
            ),
        ]

    @property
    def payable_minor(self) -> int:
        """What the invoice asks for: its total less the credit that settles a part of it."""
        return self.total_minor - self.credit_minor


class InvoiceLine(models.Model):
    """One line; written once with the document. Key: (invoice, position)."""

    invoice = models.ForeignKey(Invoice, on_delete=models.PROTECT, related_name="lines")
    position = models.PositiveIntegerField()
    meter = models.CharField(max_length=40)
    description = models.CharField(max_length=300)
    quantity = models.DecimalField(max_digits=38, decimal_places=12)
    unit = models.CharField(max_length=40)
    unit_price = models.DecimalField(max_digits=30, decimal_places=12)
    amount_minor = models.BigIntegerField()
    detail = models.JSONField(default=dict)  # base quantity, included, tier, space, plan

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["invoice", "position"], name="invoice_line_once")
        ]


class InvoiceEvent(models.Model):
    """One arrow of the invoice's state machine: who moved it, why, when. Append-only."""

    invoice = models.ForeignKey(Invoice, on_delete=models.PROTECT, related_name="events")
    from_state = models.CharField(max_length=16)
    to_state = models.CharField(max_length=16)
    actor = models.CharField(max_length=255)
    reason = models.TextField(blank=True)
    at = models.DateTimeField(auto_now_add=True)


class Payment(Timestamped):
    """Money recorded against an invoice. Key: (source, reference): a webhook may come twice."""

    invoice = models.ForeignKey(Invoice, on_delete=models.PROTECT, related_name="payments")
    source = models.CharField(max_length=40)  # manual | webhook name
    reference = models.CharField(max_length=120)
    amount_minor = models.BigIntegerField()
    recorded_by = models.CharField(max_length=255)
    received_on = models.DateField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["source", "reference"], name="payment_once"),
            models.CheckConstraint(name="payment_positive", condition=Q(amount_minor__gt=0)),
        ]


class LedgerEntry(models.Model):
    """One double-entry booking; its postings sum to zero (deferred database trigger). Append-only.

    Key: ``reference`` (``invoice:<id>`` | ``payment:<source>:<reference>``): booked once.
    """

    reference = models.CharField(max_length=200, unique=True)
    tenant = models.ForeignKey("tenants.Tenant", on_delete=models.PROTECT, related_name="+")
    currency = models.CharField(max_length=3)
    text = models.CharField(max_length=300)
    booked_at = models.DateTimeField()


class LedgerPosting(models.Model):
    """One side of a booking: ``amount_minor`` > 0 debits, < 0 credits ``account``.

    Accounts: see ``plans.ledger``.
    """

    entry = models.ForeignKey(LedgerEntry, on_delete=models.PROTECT, related_name="postings")
    account = models.CharField(max_length=80)
    amount_minor = models.BigIntegerField()
