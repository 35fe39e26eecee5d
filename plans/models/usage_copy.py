"""The copy of gold usage that all Django code reads, and quota alerts."""

from django.db import models
from django.db.models import Q
from django.utils import timezone


class UsageCopy(models.Model):
    """One copy of a version of the gold table into ``UsageRecord``.

    All samples taken before ``as_of`` are counted; pages, refusals and invoices show this time.
    """

    table_id = models.CharField(max_length=64)
    table_version = models.BigIntegerField()
    as_of = models.DateTimeField()
    copied_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["table_id", "table_version"], name="usage_copy_once")
        ]


class UsageRecord(models.Model):
    """One row of gold usage. Key: (tenant, space, address, meter, bucket).

    ``quantity`` is an integer in the meter's base unit (messages, milliseconds, byte-milliseconds,
    connections); a bucket is [bucket_at, +15 min). ``address`` is empty for meters of the space.
    """

    tenant_id = models.CharField(max_length=40)
    space_id = models.CharField(max_length=40)
    address = models.CharField(max_length=255, blank=True)
    meter = models.CharField(max_length=40)
    bucket_at = models.DateTimeField()
    quantity = models.BigIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["tenant_id", "space_id", "address", "meter", "bucket_at"],
                name="usage_record_once",
            ),
            models.CheckConstraint(name="usage_record_positive", condition=Q(quantity__gte=0)),
        ]
        indexes = [models.Index(fields=["tenant_id", "bucket_at", "meter"])]


class QuotaAlert(models.Model):
    """A period quota reached a level. Key: (tenant, resource, period start, level).

    ``action`` is what this level does: notify | withdraw_send (only at 100 %, if the plan says so).
    ``raised_at`` is the last time the level was reached, ``lifted_at`` when the alert ended: the
    level was no longer reached, or the next period began.
    """

    tenant = models.ForeignKey(
        "tenants.Tenant", on_delete=models.CASCADE, related_name="quota_alerts"
    )
    resource = models.CharField(max_length=60)
    period_starts_at = models.DateTimeField()
    level_percent = models.PositiveSmallIntegerField()
    used = models.BigIntegerField()
    limit = models.BigIntegerField()
    action = models.CharField(max_length=20)
    raised_at = models.DateTimeField(default=timezone.now)
    lifted_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "resource", "period_starts_at", "level_percent"],
                name="quota_alert_once",
            )
        ]
