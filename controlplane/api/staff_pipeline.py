"""/staff/pipeline: what waits for the lakehouse, runs of its jobs, and quarantined samples."""

from typing import Any

from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane import pipeline_reads
from controlplane.api import listing, pagination, schema
from controlplane.api.listing import Kind
from controlplane.api.views import StaffView

_RUNS = listing.Listing(
    sorts={"started_at": ("started_at", "id"), "cpu_seconds": ("cpu_seconds", "id")},
    default="-started_at",
    filters=(
        listing.choice("job", "Runs of this job.", pipeline_reads.JOBS),
        listing.Filter("error_code", "Runs that ended with this error code."),
        listing.Filter("since", "Runs from then on.", ("started_at__gte",), kind=Kind.INSTANT),
    ),
)
_QUARANTINE = listing.Listing(
    sorts={"copied_at": ("copied_at", "id")},
    default="-copied_at",
    filters=(
        listing.choice("reason", "Samples with this reason.", pipeline_reads.REASONS),
        listing.Filter("tenant_id", "Samples of the tenant with this id."),
        listing.Filter("space_id", "Samples of the space with this id."),
    ),
)


class WaitingSerializer(serializers.Serializer[Any]):
    """Samples that are not in the lakehouse yet.

    `batches_without_file` of the `batches` are not written to a file yet. `oldest_at` is null if
    nothing waits.
    """

    batches = serializers.IntegerField(source="n_batches")
    samples = serializers.IntegerField(source="n_samples")
    batches_without_file = serializers.IntegerField(source="n_without_file")
    oldest_at = serializers.DateTimeField(allow_null=True)


class LakehouseRunSerializer(serializers.Serializer[Any]):
    """One run of a job of the lakehouse that ended.

    `samples`, `quarantined` and `new_files` count what is new in it. `as_of` is up to when usage
    was complete afterwards; null after a failure. `files` maps each table to its number of files
    after housekeeping. `error_code` is empty if the run succeeded. `cpu_seconds` leaves executors
    in other pods out.
    """

    job = serializers.ChoiceField([(name, name) for name in pipeline_reads.JOBS])
    started_at = serializers.DateTimeField()
    seconds = serializers.FloatField()
    cpu_seconds = serializers.FloatField()
    samples = serializers.IntegerField(source="n_samples")
    quarantined = serializers.IntegerField(source="n_quarantined")
    new_files = serializers.IntegerField(source="n_files")
    as_of = serializers.DateTimeField(allow_null=True)
    files = serializers.DictField(child=serializers.IntegerField())
    error_code = serializers.CharField(allow_blank=True)


class PipelineSerializer(serializers.Serializer[Any]):
    """The pipeline now.

    `as_of` is up to when usage is complete, and `lag_seconds` its age; both are null before the
    first run. `newest` is the newest run of the pipeline, `succeeded` the newest that did not fail,
    `housekeeping` the newest housekeeping that did not fail.
    """

    as_of = serializers.DateTimeField(allow_null=True)
    lag_seconds = serializers.SerializerMethodField()
    waiting = WaitingSerializer()
    newest = LakehouseRunSerializer(allow_null=True)
    succeeded = LakehouseRunSerializer(allow_null=True)
    housekeeping = LakehouseRunSerializer(source="kept", allow_null=True)
    quarantined_in_24_hours = serializers.IntegerField(source="days_quarantine")

    def get_lag_seconds(self, state: pipeline_reads.State) -> int | None:
        """Return the age of ``as_of`` in whole seconds."""
        return None if state.lag is None else int(state.lag.total_seconds())


class QuarantinedSampleSerializer(serializers.Serializer[Any]):
    """A sample that the pipeline refused, or one after a counter reset, which is never billed.

    Columns that the sample lacks are empty or null. `copied_at` is when a worker found it.
    """

    copied_at = serializers.DateTimeField()
    taken_at = serializers.DateTimeField(allow_null=True)
    reason = serializers.ChoiceField([(name, name) for name in pipeline_reads.REASONS])
    detail = serializers.CharField(allow_blank=True)
    tenant_id = serializers.CharField(allow_blank=True)
    space_id = serializers.CharField(allow_blank=True)
    source = serializers.CharField(allow_blank=True)  # type: ignore[assignment]
    boot_id = serializers.CharField(allow_blank=True)
    address = serializers.CharField(allow_blank=True)
    seq = serializers.IntegerField(allow_null=True)
    epoch = serializers.IntegerField(allow_null=True)
    batch_id = serializers.CharField(allow_blank=True)


class PipelineView(StaffView):
    """Shows the pipeline now (GET)."""

    @schema.describe("Get the pipeline", response=PipelineSerializer)
    def get(self, request: Request) -> Response:
        """Return how old usage is, what waits to land, and the newest runs."""
        return Response(PipelineSerializer(pipeline_reads.state(timezone.now())).data)


class LakehouseRunsView(StaffView):
    """Lists the runs of the jobs of the lakehouse (GET)."""

    @schema.describe(
        "List lakehouse runs",
        response=schema.page_of(LakehouseRunSerializer),
        parameters=_RUNS.parameters,
    )
    def get(self, request: Request) -> Response:
        """Return the runs of the last 40 days that ended; one that was killed is not among them."""
        page = _RUNS.page(request, pipeline_reads.runs())
        return Response(pagination.body(page, LakehouseRunSerializer))


class QuarantineView(StaffView):
    """Lists the newest quarantined samples (GET)."""

    @schema.describe(
        "List quarantined samples",
        response=schema.page_of(QuarantinedSampleSerializer),
        parameters=_QUARANTINE.parameters,
    )
    def get(self, request: Request) -> Response:
        """Return the newest 1,000 quarantined samples; all are in `bronze.quarantine`."""
        page = _QUARANTINE.page(request, pipeline_reads.quarantined())
        return Response(pagination.body(page, QuarantinedSampleSerializer))
