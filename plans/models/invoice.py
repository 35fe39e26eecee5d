"""Models of invoices, their lines and history, of payments and of the ledger."""

import json
from datetime import date, datetime

from django.db import models
from django.db.models import ExpressionWrapper, F, Q

from controlplane.core import ids
from controlplane.core.models import Timestamped
from plans.rating.periods import day_end_of, day_of


class InvoiceNumberSeries(models.Model):
    """The last number that an invoice of one legal entity got; 0 if none was issued.

    Numbers have no gaps, because issuing locks the row.
    """

    legal_entity = models.CharField(primary_key=True, max_length=63)
    last_number = models.PositiveBigIntegerField(default=0)


class Invoice(Timestamped):
    """The bill of one tenant for one period [starts_at, ends_at).

    Key: (tenant, starts_at) of the invoices without ``replaces``. ``replaces`` is a voided invoice
    of the same tenant and period, which this one was issued in place of.
    The row exists from the request to close the period on. ``plans.invoicing.states`` has the
    states. After issue only ``state`` changes. Amounts, lines and ``document`` are empty before the
    first draft. ``document`` is the canonical JSON; a verification must reproduce its bytes.
    ``manifest`` pins the inputs (see ``plans.invoicing.document.manifest_of``). ``quality``
    describes unknown and changed usage (see ``plans.invoicing.invoice_quality.describe``). Amounts
    are integers in minor units of ``currency`` (ISO 4217).
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
    replaces = models.OneToOneField(
        "self", on_delete=models.PROTECT, null=True, related_name="replacement"
    )
    state = models.CharField(max_length=16, choices=State.choices, default=State.OPEN)
    held_reasons = models.JSONField(default=list)  # [{code, message}]
    # Reasons that staff accepted: [{code, message, because, at}], see ``plans.invoicing.releases``.
    releases = models.JSONField(default=list, db_default=[])
    legal_entity = models.CharField(max_length=63, blank=True)
    number = models.CharField(max_length=40, unique=True, null=True)  # noqa: DJ001 - none before issue
    currency = models.CharField(max_length=3, blank=True)
    net_minor = models.BigIntegerField(default=0)
    tax_minor = models.BigIntegerField(default=0)
    total_minor = models.BigIntegerField(default=0)
    # The part of the total that credit settles. Negative: the credit grows by as much.
    credit_minor = models.BigIntegerField(default=0)
    document = models.TextField(blank=True)
    manifest = models.JSONField(default=dict)
    quality = models.JSONField(default=dict)
    # The time zone of the document's period. Empty before the first draft, and in a draft that an
    # earlier version of Waypost made: then only the document has the time zone.
    time_zone = models.CharField(max_length=60, blank=True, default="", db_default="")
    issued_at = models.DateTimeField(null=True)
    due_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            # The operators' list: held ones first, then the newest period.
            models.Index(
                ExpressionWrapper(Q(state="held"), models.BooleanField()).desc(),
                F("starts_at").desc(),
                name="invoice_held_first",
            ),
            # With all columns that the revenue page adds up, so that it reads no rows.
            models.Index(
                fields=["starts_at"],
                include=[
                    "tenant",
                    "state",
                    "currency",
                    "time_zone",
                    "net_minor",
                    "total_minor",
                    "credit_minor",
                ],
                condition=Q(number__isnull=False),
                name="invoice_revenue",
            ),
            # What may be or become overdue, so that dunning and its page read no settled invoices.
            models.Index(
                fields=["due_at"],
                name="invoice_unpaid",
                condition=Q(state__in=["issued", "partly_paid", "overdue"]),
            ),
            # Reports of what was issued in some months.
            models.Index(
                fields=["issued_at"],
                name="invoice_issued",
                condition=Q(issued_at__isnull=False),
            ),
            # The periods of a month whose invoice is not issued: few, once the month is complete.
            models.Index(
                fields=["starts_at"],
                name="invoice_not_issued",
                condition=Q(number__isnull=True),
            ),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "starts_at"],
                name="invoice_period_once",
                condition=Q(replaces__isnull=True),
            ),
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

    @classmethod
    def valid(cls) -> "models.QuerySet[Invoice]":
        """Return the invoices that no other invoice replaces: at most one for each period."""
        return cls.objects.filter(replacement__isnull=True)

    @property
    def payable_minor(self) -> int:
        """The amount to pay in minor units: the total minus the part that credit settles."""
        return self.total_minor - self.credit_minor

    @property
    def due_on(self) -> date | None:
        """The day by which to pay, as the document names it; None before the invoice is issued."""
        if self.due_at is None:
            return None
        return day_of(self.due_at, self._zone_name())

    @property
    def late_from(self) -> datetime | None:
        """When the day ``due_on`` is over; None before the invoice is issued."""
        if self.due_at is None:
            return None
        return day_end_of(self.due_at, self._zone_name())

    def days_overdue(self, at: datetime) -> int:
        """Return how many days before ``at`` the day ``due_on`` was, in the billing time zone.

        1 or more from ``late_from`` on; below 0 before the day ``due_on``. 0 if the invoice is not
        issued.
        """
        if self.due_at is None:
            return 0
        zone_name = self._zone_name()
        return (day_of(at, zone_name) - day_of(self.due_at, zone_name)).days

    def _zone_name(self) -> str:
        if self.time_zone:
            return self.time_zone
        # Earlier versions stored it in the document only, and the first of them not at all.
        made = json.loads(self.document) if self.document else {}
        return str(made.get("period", {}).get("time_zone", "UTC"))


class InvoiceLine(models.Model):
    """One line of an invoice, copied from its document. Key: (invoice, position from 1)."""

    invoice = models.ForeignKey(Invoice, on_delete=models.PROTECT, related_name="lines")
    position = models.PositiveIntegerField()
    meter = models.CharField(max_length=40)
    description = models.CharField(max_length=300)
    quantity = models.DecimalField(max_digits=38, decimal_places=12)
    unit = models.CharField(max_length=40)
    unit_price = models.DecimalField(max_digits=30, decimal_places=12)
    amount_minor = models.BigIntegerField()
    # Such as kind, plan, base units (used, included, billed) and the share of each space.
    detail = models.JSONField(default=dict)

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["invoice", "position"], name="invoice_line_once")
        ]


class InvoiceEvent(models.Model):
    """One state transition of an invoice, with its actor, reason and time. Append-only.

    ``document_sha256`` is the hash of the document that the transition stored; empty if it stored
    none, and in rows that an earlier version of Waypost wrote.
    """

    invoice = models.ForeignKey(Invoice, on_delete=models.PROTECT, related_name="events")
    from_state = models.CharField(max_length=16)
    to_state = models.CharField(max_length=16)
    actor = models.CharField(max_length=255)
    reason = models.TextField(blank=True)
    at = models.DateTimeField(auto_now_add=True)
    document_sha256 = models.CharField(max_length=64, blank=True, default="", db_default="")


class Payment(Timestamped):
    """A payment of an invoice. Append-only.

    Key: (source, reference), so that a webhook may be delivered twice without a second payment.
    ``amount_minor`` is what was received, in minor units of the invoice's currency. The part that
    exceeds what was due is ``credit_minor``, which became credit of the tenant.
    """

    invoice = models.ForeignKey(Invoice, on_delete=models.PROTECT, related_name="payments")
    source = models.CharField(max_length=40)  # manual, another system, or a provider
    reference = models.CharField(max_length=120)
    amount_minor = models.BigIntegerField()
    credit_minor = models.BigIntegerField(default=0, db_default=0)
    recorded_by = models.CharField(max_length=255)
    received_on = models.DateField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["source", "reference"], name="payment_once"),
            models.CheckConstraint(name="payment_positive", condition=Q(amount_minor__gt=0)),
            models.CheckConstraint(
                name="payment_credit_within",
                condition=Q(credit_minor__gte=0, credit_minor__lte=F("amount_minor")),
            ),
        ]


class LedgerEntry(models.Model):
    """One double-entry booking. A trigger checks at commit that its postings sum to zero.

    Append-only. Key: ``reference``, which is ``invoice:<id>``, ``credit_note:<id>``,
    ``payment:<source>:<reference>``, ``refund:<id>``, ``refund_failed:<id>``, ``write_off:<id>``,
    ``credit_grant:<tenant id>:<reference>``, ``credit_expiry:<grant id>`` or
    ``credit_pay_back:<grant id>:<reference>``.
    """

    reference = models.CharField(max_length=200, unique=True)
    tenant = models.ForeignKey("tenants.Tenant", on_delete=models.PROTECT, related_name="+")
    # The seller in whose books the entry is. Empty: booked before Waypost stored the seller.
    legal_entity = models.CharField(max_length=63, blank=True, default="", db_default="")
    currency = models.CharField(max_length=3)
    text = models.CharField(max_length=300)
    booked_at = models.DateTimeField()

    class Meta:
        # The report of deferred revenue reads the entries of some months.
        indexes = [models.Index(fields=["booked_at"], name="ledger_entry_booked")]


class LedgerPosting(models.Model):
    """One posting of a ledger entry: ``amount_minor`` > 0 debits ``account``, < 0 credits it.

    Accounts: see ``plans.ledger.posting``. Append-only.
    """

    entry = models.ForeignKey(LedgerEntry, on_delete=models.PROTECT, related_name="postings")
    account = models.CharField(max_length=80)
    amount_minor = models.BigIntegerField()
