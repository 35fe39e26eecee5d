"""Models of the versioned catalog, of subscriptions to its plans, and of quota overrides."""

from django.db import models
from django.db.models import Q

from controlplane.core.models import Timestamped


class CatalogVersion(models.Model):
    """One published catalog, immutable. ``document`` is the canonical form of its YAML.

    Key: ``number`` (1, 2, …). ``digest`` is the SHA-256 of the canonical JSON. It is not unique: an
    older catalog may be published again under a new number. Besides plans, the document has the
    selling legal entities with their currencies, rounding and tax.
    """

    number = models.PositiveIntegerField(unique=True)
    digest = models.CharField(max_length=64)
    document = models.JSONField()
    published_at = models.DateTimeField()
    published_by = models.CharField(max_length=255)

    class Meta:
        # The model was renamed. The table keeps its name, so that an upgrade need not rename it.
        db_table = "plans_catalogueversion"


class PlanRow(models.Model):
    """The abstract base of the three kinds of plans. A row is one version of one plan.

    Only ``retired`` ever changes. ``catalogue`` is the catalog version that published the row.
    """

    key = models.SlugField(max_length=63)
    version = models.PositiveIntegerField()
    catalogue = models.ForeignKey(CatalogVersion, on_delete=models.PROTECT, related_name="+")
    title = models.CharField(max_length=100)
    retired = models.BooleanField(default=False)  # no longer offered; who uses it keeps it
    definition = models.JSONField()  # plans.catalog.definitions gives it types

    class Meta:
        abstract = True


class Plan(PlanRow):
    """One version of a commercial plan: fee, included amounts, prices, tenant quotas.

    Key: (key, version).
    """

    class Meta:
        constraints = [models.UniqueConstraint(fields=["key", "version"], name="plan_once")]


class SpacePlan(PlanRow):
    """One version of a space plan. A space plan is a size of spaces in the catalog.

    ``key`` and the plan's own ``version`` identify the row.
    """

    space_type = models.CharField(max_length=10)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["key", "version"], name="space_plan_once")]


class AddressPlan(PlanRow):
    """One version of an address plan, a size of addresses in the catalog. Key: (key, version)."""

    address_type = models.CharField(max_length=12)
    space_type = models.CharField(max_length=10)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["key", "version"], name="address_plan_once")]


class PlanSubscription(Timestamped):
    """The plan version that a tenant has over [starts_at, ends_at).

    While it is open, ``ends_at`` is null. A tenant has at most one open subscription. Until
    ``trial_ends_at`` (null: no trial) the plan's fee is not charged.

    ``follows``: the tenant moves to new versions of its plan. Otherwise it stays with its version.
    ``moves_at`` is when an open subscription moves to the newest version (null: no move is due),
    and ``moves_by`` the draft that announced the move (null: the tenant chose to follow).
    """

    tenant = models.ForeignKey(
        "tenants.Tenant", on_delete=models.PROTECT, related_name="plan_subscriptions"
    )
    plan = models.ForeignKey(Plan, on_delete=models.PROTECT, related_name="subscriptions")
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField(null=True)
    trial_ends_at = models.DateTimeField(null=True)
    follows = models.BooleanField(default=False, db_default=False)
    moves_at = models.DateTimeField(null=True)
    moves_by = models.ForeignKey(
        "plans.CatalogDraft", on_delete=models.SET_NULL, null=True, related_name="+"
    )

    class Meta:
        indexes = [
            models.Index(
                fields=["moves_at"],
                condition=Q(moves_at__isnull=False, ends_at__isnull=True),
                name="plan_subscription_to_move",
            )
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["tenant"],
                condition=Q(ends_at__isnull=True),
                name="plan_subscription_one_open",
            ),
            models.CheckConstraint(
                name="plan_subscription_forward",
                condition=Q(ends_at__isnull=True) | Q(ends_at__gt=models.F("starts_at")),
            ),
        ]


class QuotaOverride(Timestamped):
    """A limit that staff set for one tenant in place of its plan's. Key: (tenant, resource).

    The override counts until ``expires_at`` (null: for ever).
    """

    tenant = models.ForeignKey(
        "tenants.Tenant", on_delete=models.CASCADE, related_name="quota_overrides"
    )
    resource = models.CharField(max_length=60)
    amount = models.BigIntegerField()
    reason = models.TextField()
    expires_at = models.DateTimeField(null=True)
    set_by = models.CharField(max_length=255)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "resource"], name="quota_override_once"),
            models.CheckConstraint(name="quota_override_positive", condition=Q(amount__gte=0)),
        ]
