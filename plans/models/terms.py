"""Models of what changes a tenant's price: discounts, coupons, minimum commitments, credit."""

from django.db import models
from django.db.models import Q

from controlplane.core import ids
from controlplane.core.models import Timestamped


class Coupon(Timestamped):
    """A code that gives each tenant that redeems it a discount of ``months`` billing months.

    Exactly one of ``percent`` and ``amount_minor`` (of ``currency``, in a month) is set. ``meters``
    are the meters of lines that get cheaper; empty: all. ``months`` null: for ever. At most
    ``limit`` tenants redeem it (null: no limit), and none from ``expires_at`` on (null: never).
    """

    code = models.CharField(max_length=40, unique=True)
    title = models.CharField(max_length=100)
    percent = models.DecimalField(max_digits=15, decimal_places=12, null=True)
    amount_minor = models.BigIntegerField(null=True)
    # Empty with a percentage, which counts in any currency.
    currency = models.CharField(max_length=3, blank=True)
    meters = models.JSONField(default=list)
    months = models.PositiveIntegerField(null=True)
    limit = models.PositiveIntegerField(null=True)
    expires_at = models.DateTimeField(null=True)
    created_by = models.CharField(max_length=255)

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="coupon_one_kind",
                condition=Q(percent__isnull=True, amount_minor__gt=0)
                | Q(percent__gt=0, percent__lte=100, amount_minor__isnull=True),
            )
        ]


class Discount(Timestamped):
    """A discount of one tenant, for each billing month that overlaps [starts_at, ends_at).

    ``ends_at`` null: for ever. The discount's size is in the fields that ``Coupon`` has too.
    ``coupon`` is the coupon that the tenant redeemed; null: staff gave the discount. Only
    ``ends_at`` ever changes.
    """

    id = models.CharField(primary_key=True, max_length=40, default=ids.discount_id)
    tenant = models.ForeignKey("tenants.Tenant", on_delete=models.PROTECT, related_name="discounts")
    coupon = models.ForeignKey(
        Coupon, on_delete=models.PROTECT, null=True, related_name="redemptions"
    )
    title = models.CharField(max_length=100)
    percent = models.DecimalField(max_digits=15, decimal_places=12, null=True)
    amount_minor = models.BigIntegerField(null=True)
    currency = models.CharField(max_length=3, blank=True)
    meters = models.JSONField(default=list)
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField(null=True)
    created_by = models.CharField(max_length=255)

    class Meta:
        constraints = [
            # PostgreSQL takes nulls as distinct, so staff may grant a tenant any number of them.
            models.UniqueConstraint(fields=["tenant", "coupon"], name="coupon_once_per_tenant"),
            models.CheckConstraint(
                name="discount_one_kind",
                condition=Q(percent__isnull=True, amount_minor__gt=0)
                | Q(percent__gt=0, percent__lte=100, amount_minor__isnull=True),
            ),
        ]


class Commitment(Timestamped):
    """What a tenant agreed to pay at least for each month, before tax, over [starts_at, ends_at).

    ``ends_at`` null: for ever. If the time covers a part of a month, the month's minimum is in
    proportion to the covered seconds. Only ``ends_at`` ever changes.
    """

    id = models.CharField(primary_key=True, max_length=40, default=ids.commitment_id)
    tenant = models.ForeignKey(
        "tenants.Tenant", on_delete=models.PROTECT, related_name="commitments"
    )
    title = models.CharField(max_length=100)
    minimum_minor = models.BigIntegerField()
    currency = models.CharField(max_length=3)
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField(null=True)
    created_by = models.CharField(max_length=255)

    class Meta:
        constraints = [
            models.CheckConstraint(name="commitment_positive", condition=Q(minimum_minor__gt=0))
        ]


class CreditGrant(models.Model):
    """Credit that a tenant paid for in advance, or got as a gift. Append-only.

    Key: (tenant, reference), which makes granting idempotent. ``entry`` is the grant's entry in the
    ledger. From ``expires_at`` on (null: never) the credit pays nothing any more.
    """

    class Kind(models.TextChoices):
        PROMOTIONAL = "promotional"
        PREPAID = "prepaid"

    id = models.CharField(primary_key=True, max_length=40, default=ids.credit_grant_id)
    tenant = models.ForeignKey(
        "tenants.Tenant", on_delete=models.PROTECT, related_name="credit_grants"
    )
    legal_entity = models.CharField(max_length=63)
    currency = models.CharField(max_length=3)
    kind = models.CharField(max_length=12, choices=Kind.choices)
    amount_minor = models.BigIntegerField()
    reference = models.CharField(max_length=120)
    reason = models.TextField()
    granted_at = models.DateTimeField()
    granted_by = models.CharField(max_length=255)
    expires_at = models.DateTimeField(null=True)
    entry = models.OneToOneField("plans.LedgerEntry", on_delete=models.PROTECT, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "reference"], name="credit_grant_once"),
            models.CheckConstraint(name="credit_grant_positive", condition=Q(amount_minor__gt=0)),
        ]


class CreditUse(models.Model):
    """What a ledger entry took from a grant: an invoice that it paid, its expiry, or a pay-back.

    Append-only. A trigger refuses to take more than the grant has left.
    """

    grant = models.ForeignKey(CreditGrant, on_delete=models.PROTECT, related_name="uses")
    entry = models.ForeignKey(
        "plans.LedgerEntry", on_delete=models.PROTECT, related_name="credit_uses"
    )
    invoice = models.ForeignKey(
        "plans.Invoice", on_delete=models.PROTECT, null=True, related_name="credit_uses"
    )
    amount_minor = models.BigIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["grant", "entry"], name="credit_use_once"),
            models.CheckConstraint(name="credit_use_positive", condition=Q(amount_minor__gt=0)),
        ]
