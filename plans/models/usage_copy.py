"""Models of the copy of gold usage, which pages, quotas and invoices read, and of quota alerts."""

from django.db import models
from django.db.models import Q
from django.utils import timezone


class UsageCopy(models.Model):
    """Records that a version of the table ``gold.usage`` was copied to ``UsageRecord``.

    Key: (table_id, table_version). ``as_of`` is the watermark of that version, which pages, the API
    and previews of invoices show. ``copied_at`` is when the version was copied first.
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
    """A copied row of gold usage. Key: (tenant, space, address, meter, bucket).

    ``quantity`` is an integer in the meter's base unit (``plans.usage.meters``). ``bucket_at`` is
    the start of the bucket, which has 15 minutes, or less if a close ended it early. ``address`` is
    empty for meters of the space.
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
        # For windows of a tenant: in the index of the key, space and address precede the time.
        indexes = [models.Index(fields=["tenant_id", "bucket_at", "meter"])]


class UsageSum(models.Model):
    """The abstract base of sums of ``UsageRecord`` over several buckets.

    ``summed`` and ``largest`` are the sum and the maximum of ``quantity``. Triggers of the table of
    ``UsageRecord`` keep the rows up to date: code never writes them. ``recording.copy_in`` deletes
    them before a repeated copy.
    """

    tenant_id = models.CharField(max_length=40)
    space_id = models.CharField(max_length=40)
    meter = models.CharField(max_length=40)
    summed = models.BigIntegerField()
    largest = models.BigIntegerField()

    class Meta:
        abstract = True


class UsageHour(UsageSum):
    """The usage of one space and meter in the buckets that begin in one hour, over all addresses.

    Key: (tenant, meter, hour, space). ``hour_at`` is a full hour, in UTC.
    """

    hour_at = models.DateTimeField()

    class Meta:
        constraints = [
            # In this order, so that one meter of a month is one range of the index.
            models.UniqueConstraint(
                fields=["tenant_id", "meter", "hour_at", "space_id"], name="usage_hour_once"
            )
        ]


class UsageSpaceDay(UsageSum):
    """The usage of one space and meter in all buckets of one UTC day, over all addresses.

    Key: (tenant, meter, day, space).
    """

    day_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["tenant_id", "meter", "day_at", "space_id"], name="usage_space_day_once"
            )
        ]


class UsageDay(UsageSum):
    """The usage of one address and meter in all buckets of one UTC day.

    Key: (tenant, meter, day, space, address). ``address`` is empty for meters of the space.
    """

    address = models.CharField(max_length=255, blank=True)
    day_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["tenant_id", "meter", "day_at", "space_id", "address"],
                name="usage_day_once",
            )
        ]


class QuotaAlert(models.Model):
    """An alert: a tenant's usage has reached a level (80, 90 or 100 %) of a monthly quota or a cap.

    Key: (tenant, resource, period start, level). ``action`` is what this level does, a value of
    ``plans.quotas.resources.AtQuota``; below 100 % it is ``notify``. ``used``, the part ``tail`` of
    it that was not landed, and ``limit`` are those at ``raised_at``, when the alert was raised
    last. ``currency``: of amounts of money, else empty. ``lifted_at`` is when the alert ended,
    because usage was below the level of the limit in force, the limit was removed or the next month
    had begun; null while the alert lasts.
    """

    tenant = models.ForeignKey(
        "tenants.Tenant", on_delete=models.CASCADE, related_name="quota_alerts"
    )
    resource = models.CharField(max_length=60)
    period_starts_at = models.DateTimeField()
    level_percent = models.PositiveSmallIntegerField()
    used = models.BigIntegerField()
    tail = models.BigIntegerField(default=0, db_default=0)
    limit = models.BigIntegerField()
    currency = models.CharField(max_length=3, blank=True, default="", db_default="")
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
