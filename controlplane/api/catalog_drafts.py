"""/staff/catalog/…: drafts of catalogs, their publication, the versions, and back-tests."""

from typing import Any

from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api import listing, pagination, schema
from controlplane.api.idempotency import idempotent
from controlplane.api.instants import InstantField
from controlplane.api.serializers import StrictSerializer
from controlplane.api.views import StaffView
from controlplane.core.downloads import attachment
from plans.invoicing import back_testing
from plans.invoicing.back_testing import MOST_MONTHS
from plans.models import BackTest, CatalogDraft, CatalogVersion
from tenants.actions import catalog_drafts
from tenants.actions.catalog_drafts import Timing

_VERSIONS = listing.Listing(sorts={"number": ("number",)}, default="-number")
_DRAFTS = listing.Listing(
    sorts={"created_at": ("created_at", "id")},
    default="-created_at",
    filters=(listing.choice("state", "Drafts in this state.", CatalogDraft.State.values),),
)
_MONTHS = listing.Listing(
    sorts={
        "difference_minor": ("difference_minor", "id"),
        "present_net_minor": ("present_net_minor", "id"),
    },
    default="-difference_minor",
    filters=(
        listing.Filter("tenant", "Months of the tenant with this slug.", ("tenant__slug",)),
        listing.Filter("plan", "Months on this plan."),
    ),
)


class DifferenceSerializer(serializers.Serializer[Any]):
    """What a catalog changes in one plan or one seller, in sentences.

    `kind` is `new`, `changed` or `retired`.
    """

    section = serializers.CharField()
    key = serializers.CharField()
    kind = serializers.CharField()
    sentences = serializers.ListField(child=serializers.CharField())


class TimingSerializer(StrictSerializer):
    """When a catalog takes effect; at once without `effective_at`.

    Subscriptions that follow their plan move after the notice, at the beginning of a billing
    month, or with `at_period` false as soon as the notice permits.
    """

    effective_at = InstantField(required=False, allow_null=True, default=None)
    at_period = serializers.BooleanField(default=True)

    def timing(self) -> Timing:
        """Return the validated values."""
        values = self.validated_data
        return Timing(values["effective_at"], values["at_period"])


class DraftCreateSerializer(StrictSerializer):
    """A catalog to prepare, as YAML text, with a note for other staff."""

    # Not trimmed: mistakes are reported with line numbers, and leading lines count.
    yaml = serializers.CharField(max_length=500_000, trim_whitespace=False)
    note = serializers.CharField(max_length=500, required=False, allow_blank=True, default="")


class CatalogDraftSerializer(serializers.Serializer[Any]):
    """A draft of a catalog; `number` is that of the version that it published.

    `number` is null before the publication, and if the catalog equals a version that another draft
    published.

    From `follows_at` on, subscriptions that follow their plan move to the new version.
    """

    id = serializers.CharField()
    state = serializers.ChoiceField(CatalogDraft.State.choices)
    note = serializers.CharField()
    made_by = serializers.CharField()
    created_at = serializers.DateTimeField()
    scheduled_by = serializers.CharField()
    effective_at = serializers.DateTimeField(allow_null=True)
    follows_at = serializers.DateTimeField(allow_null=True)
    at_period = serializers.BooleanField()
    number = serializers.IntegerField(source="version.number", allow_null=True, default=None)


class CatalogDraftDetailSerializer(CatalogDraftSerializer):
    """A draft with its text, and what it changes of the catalog in force.

    A published draft is compared with the catalog that it replaced.
    """

    yaml = serializers.CharField()
    differences = DifferenceSerializer(many=True)


class CatalogVersionSerializer(serializers.Serializer[Any]):
    """A published version of the catalog."""

    number = serializers.IntegerField()
    digest = serializers.CharField(help_text="SHA-256 of the canonical JSON.")
    published_at = serializers.DateTimeField()
    published_by = serializers.CharField()


class BackTestCreateSerializer(StrictSerializer):
    """How many ended billing months to rate, and where their `usage` is read.

    `copy` is the copy of usage in the database, which is quick for one month. `lakehouse` sums gold
    by Spark and stores the result in the table `gold.backtest`, too.
    """

    months = serializers.IntegerField(min_value=1, max_value=MOST_MONTHS, default=1)
    usage = serializers.ChoiceField(BackTest.Source.choices, default=BackTest.Source.COPY)


class BackTestSumSerializer(serializers.Serializer[Any]):
    """Months of one plan, summed; `plan` is empty for the sum over all plans.

    Amounts are net, in minor units of `currency`. `n_less` months cost less under the draft.
    `followers_minor` is the part of the difference of subscriptions that follow their plan.
    """

    plan = serializers.CharField()
    currency = serializers.CharField()
    n_tenants = serializers.IntegerField()
    n_months = serializers.IntegerField()
    n_less = serializers.IntegerField()
    n_more = serializers.IntegerField()
    present_minor = serializers.IntegerField()
    draft_minor = serializers.IntegerField()
    difference_minor = serializers.IntegerField()
    followers_minor = serializers.IntegerField()


class HeldTenantSerializer(serializers.Serializer[Any]):
    """A tenant that a back-test leaves out, because a price is missing; `reason` names it."""

    tenant = serializers.CharField()
    reason = serializers.CharField()


class BackTestProgressSerializer(serializers.Serializer[Any]):
    """A back-test: how far it is. `error` says why it failed; no sum has the tenants of `held`."""

    id = serializers.CharField()
    draft = serializers.CharField(source="draft_id")
    months = serializers.IntegerField()
    usage = serializers.ChoiceField(BackTest.Source.choices, source="source")
    state = serializers.ChoiceField(BackTest.State.choices)
    error = serializers.CharField()
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)
    n_tenants = serializers.IntegerField()
    n_rated = serializers.IntegerField()
    held = HeldTenantSerializer(many=True)


class BackTestSerializer(BackTestProgressSerializer):
    """A back-test: how far it is, and its sums so far, in total and by plan."""

    sums = BackTestSumSerializer(many=True)
    plans = BackTestSumSerializer(many=True)


class BackTestMonthSerializer(serializers.Serializer[Any]):
    """What one billing month of a tenant cost, and would cost under the draft.

    Amounts are minor units of `currency`. `invoiced_net_minor` is null if the month has no approved
    invoice.
    """

    tenant = serializers.CharField(source="tenant.slug")
    month_starts_at = serializers.DateTimeField()
    plan = serializers.CharField()
    follows = serializers.BooleanField()
    currency = serializers.CharField()
    present_net_minor = serializers.IntegerField()
    draft_net_minor = serializers.IntegerField()
    difference_minor = serializers.IntegerField()
    present_total_minor = serializers.IntegerField()
    draft_total_minor = serializers.IntegerField()
    invoiced_net_minor = serializers.IntegerField(allow_null=True)


class CatalogVersionsView(StaffView):
    """Lists the published versions of the catalog (GET)."""

    @schema.describe(
        "List catalog versions",
        response=schema.page_of(CatalogVersionSerializer),
        parameters=_VERSIONS.parameters,
    )
    def get(self, request: Request) -> Response:
        """Return all versions that were ever published."""
        # A document is the whole catalog, and the list does not show it.
        page = _VERSIONS.page(request, CatalogVersion.objects.defer("document"))
        return Response(pagination.body(page, CatalogVersionSerializer))


class CatalogDraftsView(StaffView):
    """Lists drafts of catalogs (GET) and prepares one (POST)."""

    @schema.describe(
        "List catalog drafts",
        response=schema.page_of(CatalogDraftSerializer),
        parameters=_DRAFTS.parameters,
    )
    def get(self, request: Request) -> Response:
        """Return all drafts, also published and canceled ones."""
        # Text and document are the whole catalog, and the list does not show them.
        rows = CatalogDraft.objects.select_related("version").defer("yaml", "document")
        page = _DRAFTS.page(request, rows.defer("yaml", "document", "version__document"))
        return Response(pagination.body(page, CatalogDraftSerializer))

    @schema.describe(
        "Prepare a catalog",
        request=DraftCreateSerializer,
        response=CatalogDraftDetailSerializer,
        status=201,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Store a catalog as a draft; nothing is published. Mistakes are listed by line."""
        serializer = DraftCreateSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        # It parses first: a text with mistakes makes no draft.
        row = catalog_drafts.prepare(**serializer.validated_data, by=self.actor)
        return Response(draft_body(row), status=201)


class CatalogDraftView(StaffView):
    """Shows one draft of a catalog (GET)."""

    @schema.describe("Get a catalog draft", response=CatalogDraftDetailSerializer)
    def get(self, request: Request, draft: str) -> Response:
        """Return the draft of this id, with what it changes of the catalog in force."""
        return Response(draft_body(catalog_drafts.get(draft)))


class PublishDraftView(StaffView):
    """Publishes or schedules a draft (POST)."""

    @schema.describe(
        "Publish a catalog draft",
        request=TimingSerializer,
        response=CatalogDraftDetailSerializer,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request, draft: str) -> Response:
        """Publish the draft now, or schedule it; refused (409) while another one is scheduled."""
        serializer = TimingSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        row = catalog_drafts.publish(
            draft=catalog_drafts.get(draft),
            timing=serializer.timing(),
            by=self.actor,
            now=timezone.now(),
        )
        return Response(draft_body(row))


class CancelDraftView(StaffView):
    """Cancels a draft (POST)."""

    @schema.describe(
        "Cancel a catalog draft",
        response=CatalogDraftDetailSerializer,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request, draft: str) -> Response:
        """Cancel a draft. A published one is refused (409).

        A tenant whose subscription was to move because of the draft gets an event.
        """
        row = catalog_drafts.cancel(draft=catalog_drafts.get(draft), by=self.actor)
        return Response(draft_body(row))


class BackTestsView(StaffView):
    """Requests a back-test of a draft (POST)."""

    @schema.describe(
        "Request a back-test",
        request=BackTestCreateSerializer,
        response=BackTestSerializer,
        status=202,
        parameters=[schema.IDEMPOTENCY_KEY],
        operation_id="request_back_test",
    )
    @idempotent
    def post(self, request: Request, draft: str) -> Response:
        """Rate ended months of all tenants under the draft; poll the back-test for its progress."""
        serializer = BackTestCreateSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        row = back_testing.request(
            draft=catalog_drafts.get(draft),
            months=serializer.validated_data["months"],
            source=BackTest.Source(serializer.validated_data["usage"]),
            by=self.actor,
            now=timezone.now(),
        )
        return Response(back_test_body(row), status=202)


class BackTestView(StaffView):
    """Shows one back-test (GET)."""

    @schema.describe("Get a back-test", response=BackTestSerializer, operation_id="get_back_test")
    def get(self, request: Request, back_test: str) -> Response:
        """Return how far the back-test is, and its sums so far, in total and by plan."""
        return Response(back_test_body(back_testing.get(back_test)))


class BackTestMonthsView(StaffView):
    """Lists the months of a back-test (GET)."""

    @schema.describe(
        "List months of a back-test",
        response=schema.page_of(BackTestMonthSerializer),
        parameters=_MONTHS.parameters,
        operation_id="list_back_test_months",
    )
    def get(self, request: Request, back_test: str) -> Response:
        """Return each month of each tenant, by default those with the largest increase first."""
        page = _MONTHS.page(request, back_testing.ranked(back_testing.get(back_test)))
        return Response(pagination.body(page, BackTestMonthSerializer))


class BackTestCsvView(StaffView):
    """The months of a back-test as CSV (GET)."""

    @schema.describe(
        "Get a back-test as CSV",
        response={(200, "text/csv"): OpenApiTypes.STR},
        operation_id="get_back_test_as_csv",
    )
    def get(self, request: Request, back_test: str) -> HttpResponse:
        """Return each month of each tenant as a row; amounts are in minor units."""
        found = back_testing.get(back_test)
        return attachment(
            back_testing.months_csv(found), "text/csv; charset=utf-8", f"{found.pk}.csv"
        )


def draft_body(row: CatalogDraft) -> Any:
    """Return the body of a draft with its text and its differences."""
    found = catalog_drafts.changes(row)
    return {
        **CatalogDraftSerializer(row).data,
        "yaml": row.yaml,
        "differences": DifferenceSerializer(found, many=True).data,
    }


def back_test_body(row: BackTest) -> Any:
    """Return the body of a back-test with its sums so far."""
    sums = {"sums": back_testing.summary(row), "plans": back_testing.by_plan(row)}
    return {
        **BackTestProgressSerializer(row).data,
        **{name: BackTestSumSerializer(found, many=True).data for name, found in sums.items()},
    }
