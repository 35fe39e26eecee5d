"""Models of monthly quotas: usage that the copy of gold lacks yet, and a tenant's spend cap."""

from django.db import models
from django.db.models import Q

from controlplane.core.models import Timestamped


class UsageTail(models.Model):
    """What a tenant's brokers and routers counted from ``since`` to ``sampled_at``. Key: tenant.

    ``counted`` is {meter: quantity}. The tail of usage is ``counted`` minus what the copy of gold
    has of the same time. ``plans.usage.reading.tail`` subtracts it at each call, so a newer copy of
    gold counts nothing twice. ``evaluated_at`` is when quotas were evaluated with these counts;
    null until then.
    """

    tenant = models.OneToOneField(
        "tenants.Tenant", on_delete=models.CASCADE, primary_key=True, related_name="usage_tail"
    )
    since = models.DateTimeField()
    counted = models.JSONField(default=dict)
    sampled_at = models.DateTimeField()
    evaluated_at = models.DateTimeField(null=True)


class SpendCap(Timestamped):
    """What a tenant wants to spend at most in a billing month, tax included. Key: tenant.

    ``amount_minor`` is in minor units of ``currency``. ``action`` is a value of
    ``plans.quotas.resources.AtQuota``.
    """

    tenant = models.OneToOneField(
        "tenants.Tenant", on_delete=models.CASCADE, related_name="spend_cap"
    )
    amount_minor = models.BigIntegerField()
    currency = models.CharField(max_length=3)
    action = models.CharField(max_length=20)
    set_by = models.CharField(max_length=255)

    class Meta:
        constraints = [
            models.CheckConstraint(name="spend_cap_positive", condition=Q(amount_minor__gt=0))
        ]
