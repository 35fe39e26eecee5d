"""/staff/close-runs: staff close many billing periods at once, and approve and issue the drafts."""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api import listing, pagination, schema
from controlplane.api.idempotency import idempotent
from controlplane.api.serializers import StrictSerializer
from controlplane.api.staff_invoices import ApproveSerializer, StaffInvoiceSerializer
from controlplane.api.views import StaffView
from plans.invoicing import close_run_reads, close_runs, receiving
from plans.invoicing.close_run_reads import RunReading
from plans.models import CloseRun, CloseRunAction, Invoice
from tenants import queries

_LISTING = listing.Listing(sorts={"created_at": ("created_at", "id")}, default="-created_at")
_INVOICES = listing.Listing(
    sorts={"starts_at": ("starts_at", "id"), "total_minor": ("total_minor", "id")},
    default="starts_at",
    filters=(listing.choice("state", "Invoices in this state.", Invoice.State.values),),
)


class CloseRunCreateSerializer(StrictSerializer):
    """What a close run closes: all due periods, unless something narrower is named.

    `tenants` are slugs; empty: all tenants. `skip_grace` also closes periods that are over but
    whose grace period is not. `again` closes held invoices again, and no new periods.
    """

    tenants = serializers.ListField(
        child=serializers.CharField(max_length=63), required=False, default=list, max_length=1000
    )
    skip_grace = serializers.BooleanField(required=False, default=False)
    again = serializers.BooleanField(required=False, default=False)


class CloseRunSerializer(serializers.Serializer[Any]):
    """A close run in the list.

    `step` is what a worker does now, `message` what the run waits for. `left` invoices are neither
    a draft nor held yet.
    """

    id = serializers.CharField()
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)
    requested_by = serializers.CharField()
    step = serializers.CharField(
        help_text="Such as `pipeline`; empty before the first step and after the last."
    )
    message = serializers.CharField()
    invoices = serializers.IntegerField(source="n_invoices")
    left = serializers.IntegerField(source="n_left")
    held = serializers.IntegerField(source="n_held")


class CurrencyTotalSerializer(serializers.Serializer[Any]):
    """The sums of the drafts and issued invoices of a run in one currency, in minor units."""

    currency = serializers.CharField()
    invoices = serializers.IntegerField(source="n_invoices")
    net_minor = serializers.IntegerField()
    tax_minor = serializers.IntegerField()
    total_minor = serializers.IntegerField()


class HeldGroupSerializer(serializers.Serializer[Any]):
    """The held invoices of a run with one reason; `message` is that of one of them."""

    code = serializers.CharField()
    invoices = serializers.IntegerField(source="n_invoices")
    message = serializers.CharField()


class ActionFailureSerializer(serializers.Serializer[Any]):
    """An invoice that could not be approved or issued, and why."""

    invoice = serializers.CharField()
    code = serializers.CharField()
    message = serializers.CharField()


class CloseRunActionSerializer(serializers.Serializer[Any]):
    """An approval or issue of many invoices: how many there were, and how many are done."""

    id = serializers.CharField()
    kind = serializers.ChoiceField(CloseRunAction.Kind.choices)
    requested_by = serializers.CharField()
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)
    invoices = serializers.IntegerField(source="n_invoices")
    done = serializers.IntegerField(source="n_done")
    failures = ActionFailureSerializer(many=True)


class SkippedSerializer(serializers.Serializer[Any]):
    """A tenant whose period could not be requested; `tenant` is its id."""

    tenant = serializers.CharField()
    code = serializers.CharField()
    message = serializers.CharField()


class CloseRunDetailSerializer(CloseRunSerializer):
    """A close run with its progress in percent, the states of its invoices, totals and reasons."""

    percent = serializers.IntegerField()
    without_evidence = serializers.IntegerField(source="n_without_evidence")
    states = serializers.DictField(child=serializers.IntegerField())
    totals = CurrencyTotalSerializer(many=True)
    held_reasons = HeldGroupSerializer(many=True)
    skipped = SkippedSerializer(many=True)
    action = CloseRunActionSerializer(allow_null=True)


class CloseRunInvoiceSerializer(StaffInvoiceSerializer):
    """An invoice of a close run; `tenant` is the slug."""


class CloseRunsView(StaffView):
    """Lists close runs (GET) and begins one (POST)."""

    @schema.describe(
        "List close runs",
        response=schema.page_of(CloseRunSerializer),
        parameters=_LISTING.parameters,
    )
    def get(self, request: Request) -> Response:
        """Return all close runs, running and ended ones."""
        page = _LISTING.page(request, close_run_reads.newest())
        return Response(pagination.body(page, CloseRunSerializer))

    @schema.describe(
        "Start a close run",
        request=CloseRunCreateSerializer,
        response=CloseRunDetailSerializer,
        status=202,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Begin to close all due periods, of all tenants or of some.

        Each invoice becomes a draft or is held. The request is refused (409) if nothing is to
        close.
        """
        serializer = CloseRunCreateSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        wanted = serializer.validated_data
        run = close_runs.start(
            by=self.actor,
            skip_grace=wanted["skip_grace"],
            again=wanted["again"],
            # An unknown slug is refused (404) before anything begins.
            tenants=[queries.get_tenant(slug) for slug in wanted["tenants"]],
        )
        return _accepted(run)


class CloseRunView(StaffView):
    """Shows one close run (GET)."""

    @schema.describe("Get a close run", response=CloseRunDetailSerializer)
    def get(self, request: Request, run: str) -> Response:
        """Return how far the run is, what its invoices add up to, and why some are held."""
        return Response(_body(close_runs.get(run)))


class CloseRunInvoicesView(StaffView):
    """Lists the invoices of a close run (GET)."""

    @schema.describe(
        "List the invoices of a close run",
        response=schema.page_of(CloseRunInvoiceSerializer),
        parameters=_INVOICES.parameters,
    )
    def get(self, request: Request, run: str) -> Response:
        """Return the invoices of the run, or those that the filters select."""
        rows = receiving.with_due(close_run_reads.invoices(close_runs.get(run)))
        page = _INVOICES.page(request, rows)
        return Response(pagination.body(page, CloseRunInvoiceSerializer))


class ApproveRunView(StaffView):
    """Approves all drafts of a close run (POST)."""

    @schema.describe(
        "Approve the drafts of a close run",
        request=ApproveSerializer,
        response=CloseRunDetailSerializer,
        status=202,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request, run: str) -> Response:
        """Begin to approve all drafts of the run; `action` shows how far it is.

        An invoice that cannot be approved is among the `failures` of the action, and the others go
        on. The request is refused (409) while another action on the run has not ended, or without a
        draft.
        """
        serializer = ApproveSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        found, reason = close_runs.get(run), serializer.validated_data["reason"]
        close_runs.act(run=found, kind=CloseRunAction.Kind.APPROVE, by=self.actor, reason=reason)
        return _accepted(found)


class IssueRunView(StaffView):
    """Issues all approved invoices of a close run (POST)."""

    @schema.describe(
        "Issue the approved invoices of a close run",
        response=CloseRunDetailSerializer,
        status=202,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request, run: str) -> Response:
        """Begin to issue all approved invoices of the run; `action` shows how far it is.

        Each gets the next number of its series. The request is refused (409) while another action
        on the run has not ended, or without an approved invoice.
        """
        found = close_runs.get(run)
        close_runs.act(run=found, kind=CloseRunAction.Kind.ISSUE, by=self.actor)
        return _accepted(found)


def _accepted(run: CloseRun) -> Response:
    # Without a host name, so that it is right behind every proxy.
    location = f"/api/v1/staff/close-runs/{run.pk}"
    return Response(_body(run), status=202, headers={"Location": location})


def _body(run: CloseRun) -> Any:
    # Counted from the invoices at each request, because the run stores no sums.
    reading: RunReading = close_run_reads.read(run)
    values = {
        **{name: getattr(run, name) for name in _OF_RUN},
        **{name: getattr(reading, name) for name in _OF_READING},
        "n_held": reading.states.get(Invoice.State.HELD, 0),
        "held_reasons": reading.held,
    }
    return CloseRunDetailSerializer(values).data


# A serializer reads one object, and these values are of two: the row and its reading.
_OF_RUN = ("id", "created_at", "finished_at", "requested_by", "step", "message", "skipped")
_OF_READING = (
    "n_invoices",
    "n_left",
    "n_without_evidence",
    "percent",
    "states",
    "totals",
    "action",
)
