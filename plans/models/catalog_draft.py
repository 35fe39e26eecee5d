"""Models of catalogs before their publication, and of back-tests: what past months would cost."""

from django.db import models
from django.db.models import Q

from controlplane.core import ids
from controlplane.core.models import Timestamped


class CatalogDraft(Timestamped):
    """A catalog that staff prepared: ``draft`` -> ``scheduled`` -> ``published``, or ``canceled``.

    At most one is scheduled at a time. ``yaml`` is the text as it was uploaded, ``document`` its
    canonical form. From ``effective_at`` on, the catalog is in force for new subscriptions.
    ``changed_plans`` are the keys of the commercial plans of which it makes a new version.

    Subscriptions that follow their plan move to the new version at ``follows_at`` or, with
    ``at_period``, at the first beginning of a billing month of their tenant from then on.

    A worker announces the change to the tenants in batches: ``announced_up_to`` is the id of the
    last subscription that it has looked at, and ``is_announced`` says that none is left. A
    publication, and a cancellation, begin the announcement again.
    """

    class State(models.TextChoices):
        DRAFT = "draft"
        SCHEDULED = "scheduled"
        PUBLISHED = "published"
        CANCELED = "canceled"

    id = models.CharField(primary_key=True, max_length=40, default=ids.catalog_draft_id)
    state = models.CharField(max_length=10, choices=State.choices, default=State.DRAFT)
    yaml = models.TextField()
    document = models.JSONField()
    note = models.CharField(max_length=500, blank=True)
    made_by = models.CharField(max_length=255)
    scheduled_by = models.CharField(max_length=255, blank=True)
    effective_at = models.DateTimeField(null=True)
    follows_at = models.DateTimeField(null=True)
    at_period = models.BooleanField(default=True)
    changed_plans = models.JSONField(default=list)
    version = models.OneToOneField(
        "plans.CatalogVersion", on_delete=models.PROTECT, null=True, related_name="draft"
    )
    announced_up_to = models.BigIntegerField(default=0)
    is_announced = models.BooleanField(default=True)
    # Why a scheduled draft could not be published when it was due; later, which tenants could not
    # be told of what it or its cancellation changes for them.
    error = models.TextField(blank=True, db_default="", default="")

    class Meta:
        constraints = [
            # All rows of the condition have the same state, so there is one at most.
            models.UniqueConstraint(
                fields=["state"], condition=Q(state="scheduled"), name="catalog_draft_one_scheduled"
            ),
            models.CheckConstraint(
                name="catalog_draft_dated",
                condition=Q(state__in=["draft", "canceled"])
                | Q(effective_at__isnull=False, follows_at__isnull=False),
            ),
        ]
        indexes = [
            models.Index(
                fields=["id"], condition=Q(is_announced=False), name="catalog_draft_to_announce"
            )
        ]

    @property
    def is_ahead(self) -> bool:
        """Whether the draft is neither published nor canceled."""
        return self.state in (self.State.DRAFT, self.State.SCHEDULED)


class BackTest(Timestamped):
    """A rating of the last ``months`` billing months of all tenants under a draft.

    ``source`` says where quantities come from: ``copy`` is gold's copy in PostgreSQL, ``lakehouse``
    is gold itself, summed by Spark at ``gold_version`` of the table ``gold_id``. Months are those
    that ended before ``until``. ``catalogue_number`` is the catalog in force at the request, with
    which the draft is compared.

    A worker rates the tenants in the order of their ids: ``rated_up_to`` is the last one, and
    ``n_rated`` of ``n_tenants`` are done. So a back-test that was stopped goes on where it was.
    ``stored_version`` is the version of the table ``gold.backtest`` with its rows (null: none).
    ``held`` is a list of {tenant, reason}: the slugs of tenants that have no rows, because a price
    is missing.
    """

    class State(models.TextChoices):
        RUNNING = "running"
        SUCCEEDED = "succeeded"
        FAILED = "failed"

    class Source(models.TextChoices):
        COPY = "copy"
        LAKEHOUSE = "lakehouse"

    id = models.CharField(primary_key=True, max_length=40, default=ids.back_test_id)
    draft = models.ForeignKey(CatalogDraft, on_delete=models.CASCADE, related_name="back_tests")
    months = models.PositiveSmallIntegerField()
    source = models.CharField(max_length=10, choices=Source.choices)
    until = models.DateTimeField()
    catalogue_number = models.PositiveIntegerField(default=0)
    requested_by = models.CharField(max_length=255)
    state = models.CharField(max_length=10, choices=State.choices, default=State.RUNNING)
    n_tenants = models.PositiveIntegerField(default=0)
    n_rated = models.PositiveIntegerField(default=0)
    rated_up_to = models.CharField(max_length=40, blank=True)
    held = models.JSONField(default=list, db_default=[])
    gold_id = models.CharField(max_length=64, blank=True)
    gold_version = models.BigIntegerField(null=True)
    stored_version = models.BigIntegerField(null=True)
    error = models.TextField(blank=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["id"], condition=Q(state="running"), name="back_test_running"),
            models.Index(fields=["draft", "-created_at"], name="back_test_newest"),
        ]


class BackTestRow(models.Model):
    """What one billing month of a tenant costs under a draft. Key: (back-test, tenant, month).

    Amounts are minor units of ``currency``. ``present_…`` are at the prices of the plans that were
    in force, ``draft_…`` at the draft's, for the same quantities, terms and tax.
    ``invoiced_net_minor`` is what the month's invoices say, without corrections of other months;
    null if a part of the month has no approved invoice. ``plan`` is the plan at the end of the
    month, and ``follows`` says whether the tenant's subscription follows its plan now.
    """

    back_test = models.ForeignKey(BackTest, on_delete=models.CASCADE, related_name="rows")
    tenant = models.ForeignKey("tenants.Tenant", on_delete=models.CASCADE, related_name="+")
    month_starts_at = models.DateTimeField()
    month_ends_at = models.DateTimeField()
    plan = models.CharField(max_length=63)
    follows = models.BooleanField()
    currency = models.CharField(max_length=3)
    present_net_minor = models.BigIntegerField()
    present_total_minor = models.BigIntegerField()
    draft_net_minor = models.BigIntegerField()
    draft_total_minor = models.BigIntegerField()
    invoiced_net_minor = models.BigIntegerField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["back_test", "tenant", "month_starts_at"], name="back_test_row_once"
            )
        ]
