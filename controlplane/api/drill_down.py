"""/tenants/{tenant}/invoices/{invoice}: the usage behind a line, and why an invoice changed.

Days and hours come from the copy of usage. Samples are read by a worker: a POST requests a reading,
and the ``subject_id`` of its operation names it.
"""

from datetime import date
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api import listing, pagination, schema
from controlplane.api.idempotency import idempotent
from controlplane.api.instants import InstantField, StoredInstantField
from controlplane.api.invoices import get_invoice
from controlplane.api.serializers import OperationSerializer, StrictSerializer
from controlplane.api.views import TenantView, accepted
from controlplane.core.errors import Invalid
from plans.invoicing import drill_down, explaining, sample_readings
from plans.invoicing.changes import Cause
from plans.invoicing.drill_down import DrillDown
from plans.invoicing.explaining import Explanation, Side
from plans.models import ReadRow
from plans.rating.periods import Period
from tenants.permissions import Permission

# A position counts the rows of one kind in one reading, and both lists have one kind only.
_ROWS = listing.Listing(sorts={"position": ("position",)}, default="position")
_DAY = OpenApiParameter(
    "day",
    OpenApiTypes.DATE,
    description="A day of the invoice's time zone: its hours, instead of the days of the line.",
)
_FROM = OpenApiParameter(
    "from",
    str,
    required=True,
    description="The earlier invoice: number, id, a month such as 2026-10, or `preview`.",
)


class LineStepSerializer(serializers.Serializer[Any]):
    """The part of an invoice line in one day or hour; parts without usage are left out.

    `used_base`, `included_base` and `billed_base` are in base units of the meter. For a package
    price `billed_base` counts packages instead, for a flat price months.
    """

    starts_at = serializers.DateTimeField()
    ends_at = serializers.DateTimeField()
    used_base = serializers.IntegerField()
    included_base = serializers.IntegerField()
    billed_base = serializers.IntegerField()


class DividedLineSerializer(serializers.Serializer[Any]):
    """An invoice line of usage, divided by days or hours.

    Over all days, `billed_base` adds up to that of the line exactly, and `used_base` too; of a peak
    meter, the largest `used_base` is that of the line. `is_exact` is false if usage arrived after
    the invoice was made: then request a reading of the line's window, and get the line again.
    """

    position = serializers.IntegerField()
    description = serializers.CharField()
    meter = serializers.CharField()
    unit = serializers.CharField()
    base_per_unit = serializers.IntegerField()
    quantity = serializers.CharField()
    used_base = serializers.IntegerField()
    billed_base = serializers.IntegerField()
    starts_at = serializers.DateTimeField()
    ends_at = serializers.DateTimeField()
    time_zone = serializers.CharField()
    read_from = serializers.ChoiceField(
        [drill_down.COPY, drill_down.PINNED],
        help_text="The copy of gold usage, or the version of gold that the invoice pins.",
    )
    is_exact = serializers.BooleanField()
    step = serializers.ChoiceField([drill_down.HOUR, drill_down.DAY])
    steps = LineStepSerializer(many=True)


class ReadingCreateSerializer(StrictSerializer):
    """The part of the invoice's period to read; without times, all of it."""

    starts_at = InstantField(default=None, allow_null=True)
    ends_at = InstantField(default=None, allow_null=True)
    first = serializers.IntegerField(
        # Within the 64-bit column: a larger number would be an error of the database (500).
        default=0,
        min_value=0,
        max_value=2**62,
        help_text="Number of the first sample to keep.",
    )


class HourSerializer(serializers.Serializer[Any]):
    """The evidence of one hour: number and hash of its samples, and its usage by meter."""

    starts_at = StoredInstantField()
    n_samples = serializers.IntegerField()
    sample_hash = serializers.CharField()
    used = serializers.DictField(child=serializers.IntegerField())


class ReadingSerializer(serializers.Serializer[Any]):
    """What a worker has read of a part of an invoice's period, at the versions that it pins.

    `sample_hash` is the hash of all samples of the part. The hashes of parts add up: each word of
    eight digits modulo 2^32. The hashes of all hours of the invoice add up to
    `manifest.sample_hash` of its document. `from_samples` is the usage by meter, from the samples
    alone.
    """

    id = serializers.CharField()
    starts_at = serializers.DateTimeField()
    ends_at = serializers.DateTimeField()
    first = serializers.IntegerField()
    finished_at = serializers.DateTimeField(allow_null=True)
    n_samples = serializers.IntegerField()
    sample_hash = serializers.CharField(allow_blank=True)
    n_counters = serializers.IntegerField()
    from_samples = serializers.DictField(child=serializers.IntegerField())
    hours = HourSerializer(many=True)


class SampleSerializer(serializers.Serializer[Any]):
    """One sample: its number in the part, its columns, and `sha256`, the hash of its values."""

    position = serializers.IntegerField()
    values = serializers.DictField()


class CounterSerializer(serializers.Serializer[Any]):
    """One counter: an incarnation of an address, and what each meter of it reached.

    `used` is `after` minus `before`; of a peak it is the largest value of the part.
    """

    position = serializers.IntegerField()
    values = serializers.DictField()


class SideSerializer(serializers.Serializer[Any]):
    """One of two compared invoices; `id` and `number` are empty for the running period."""

    id = serializers.CharField(allow_blank=True)
    number = serializers.CharField(allow_blank=True)
    starts_at = serializers.DateTimeField()
    ends_at = serializers.DateTimeField()
    payable_minor = serializers.IntegerField()


class ChangePartSerializer(serializers.Serializer[Any]):
    """One part of a change: its cause, the meter it is about (or empty), and words for people."""

    caused_by = serializers.ChoiceField([cause.value for cause in Cause])
    meter = serializers.CharField(allow_blank=True)
    title = serializers.CharField(allow_blank=True)
    amount_minor = serializers.IntegerField()
    words = serializers.CharField()


class InvoiceChangeSerializer(serializers.Serializer[Any]):
    """Why an invoice asks for another amount than an earlier one, in minor units of `currency`.

    The amounts of `parts` add up to `difference_minor` exactly.
    """

    older = SideSerializer()
    newer = SideSerializer()
    currency = serializers.CharField()
    difference_minor = serializers.IntegerField()
    parts = ChangePartSerializer(many=True)


class InvoiceLineView(TenantView):
    """Divides an invoice line by days, or one of its days by hours (GET)."""

    needs = {"GET": Permission.VIEW_BILLING}

    @schema.describe(
        "Drill down an invoice line", response=DividedLineSerializer, parameters=[_DAY]
    )
    def get(self, request: Request, tenant: str, invoice: str, position: int) -> Response:
        """Return the days of the line with this position, or the hours of `day`.

        A line that does not come from usage is refused (409); the message says where it comes from.
        """
        row, day = get_invoice(self.tenant, invoice), _day(request)
        found = drill_down.hours(row, position, day) if day else drill_down.days(row, position)
        return Response(DividedLineSerializer(line_values(found)).data)


class SampleReadingsView(TenantView):
    """Requests that the samples behind an invoice are read (POST)."""

    needs = {"POST": Permission.VIEW_BILLING}

    @schema.describe(
        "Read the samples of an invoice",
        request=ReadingCreateSerializer,
        response=OperationSerializer,
        status=202,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request, tenant: str, invoice: str) -> Response:
        """Begin to read usage and samples of a part of the invoice's period, at pinned versions.

        The `subject_id` of the operation names the reading. The reading keeps at most 5,000
        samples, from number `first` on, for a day. A second request for the same part and `first`
        returns the same reading.
        """
        serializer = ReadingCreateSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        row, wanted = get_invoice(self.tenant, invoice), serializer.validated_data
        # None: all of the period. One instant alone is enough, and the invoice has the other one.
        part = None
        if wanted["starts_at"] or wanted["ends_at"]:
            part = Period(wanted["starts_at"] or row.starts_at, wanted["ends_at"] or row.ends_at)
        operation = sample_readings.request(
            invoice=row, part=part, first=wanted["first"], by=self.actor
        )
        return accepted(operation, self.tenant)


class SampleReadingView(TenantView):
    """Shows one reading of samples (GET)."""

    needs = {"GET": Permission.VIEW_BILLING}

    @schema.describe("Get a reading of samples", response=ReadingSerializer)
    def get(self, request: Request, tenant: str, invoice: str, reading: str) -> Response:
        """Return what was read: hashes and usage by hour; `finished_at` is null until it is."""
        row = sample_readings.get(get_invoice(self.tenant, invoice), reading)
        return Response(ReadingSerializer(row).data)


class ReadSamplesView(TenantView):
    """Lists the samples of one reading (GET)."""

    needs = {"GET": Permission.VIEW_BILLING}

    @schema.describe(
        "List read samples",
        response=schema.page_of(SampleSerializer),
        parameters=_ROWS.parameters,
    )
    def get(self, request: Request, tenant: str, invoice: str, reading: str) -> Response:
        """Return the samples that the reading keeps, by source, incarnation and address."""
        row = sample_readings.get(get_invoice(self.tenant, invoice), reading)
        page = _ROWS.page(request, row.rows.filter(kind=ReadRow.Kind.SAMPLE))
        return Response(pagination.body(page, SampleSerializer))


class ReadCountersView(TenantView):
    """Lists the counters of one reading (GET)."""

    needs = {"GET": Permission.VIEW_BILLING}

    @schema.describe(
        "List read counters",
        response=schema.page_of(CounterSerializer),
        parameters=_ROWS.parameters,
    )
    def get(self, request: Request, tenant: str, invoice: str, reading: str) -> Response:
        """Return the counters with samples in the part, by space, source, incarnation, address."""
        row = sample_readings.get(get_invoice(self.tenant, invoice), reading)
        page = _ROWS.page(request, row.rows.filter(kind=ReadRow.Kind.COUNTER))
        return Response(pagination.body(page, CounterSerializer))


class InvoiceChangeView(TenantView):
    """Explains why an invoice differs from an earlier one (GET)."""

    needs = {"GET": Permission.VIEW_BILLING}

    @schema.describe(
        "Explain an invoice's change", response=InvoiceChangeSerializer, parameters=[_FROM]
    )
    def get(self, request: Request, tenant: str, invoice: str) -> Response:
        """Return the change from the invoice `from` to this one, split by cause.

        Both are a number, an id, a month such as 2026-10 with one invoice, or `preview`: the
        running period.
        """
        older = request.query_params.get("from", "")
        # PostgreSQL accepts no NUL in text.
        if not older or "\x00" in older:
            raise Invalid(
                "`from` must name the earlier invoice.",
                code="request.invalid",
                # ``from`` is a keyword of Python, so it cannot be named as an argument.
                **{"from": ["Name an invoice: number, id, month or preview."]},
            )
        found = explaining.explain(self.tenant, older, invoice)
        return Response(InvoiceChangeSerializer(change_values(found)).data)


def line_values(found: DrillDown) -> dict[str, Any]:
    """Return the values of ``DividedLineSerializer``."""
    usage = found.usage
    line = usage.line
    return {
        **{name: line[name] for name in ("position", "description", "meter", "unit", "quantity")},
        "base_per_unit": line["detail"]["base_per_unit"],
        "used_base": usage.used,
        "billed_base": usage.counting.billed,
        "starts_at": usage.window.starts_at,
        "ends_at": usage.window.ends_at,
        "time_zone": usage.time_zone,
        "read_from": found.source,
        "is_exact": found.is_exact,
        "step": found.step,
        "steps": [
            {
                "starts_at": found.part(share).starts_at,
                "ends_at": found.part(share).ends_at,
                "used_base": share.used,
                "included_base": share.included,
                "billed_base": share.billed,
            }
            for share in found.steps
        ],
    }


def change_values(found: Explanation) -> dict[str, Any]:
    """Return the values of ``InvoiceChangeSerializer``."""
    return {
        "older": _side(found.older),
        "newer": _side(found.newer),
        "currency": found.currency,
        "difference_minor": found.difference_minor,
        "parts": [
            {
                "caused_by": row.part.cause.value,
                "meter": row.part.meter,
                "title": row.title,
                "amount_minor": row.part.amount_minor,
                "words": row.words,
            }
            for row in found.parts
        ],
    }


def _side(side: Side) -> dict[str, Any]:
    period = side.billed.period
    return {
        "id": side.id,
        "number": side.number,
        "starts_at": period.starts_at,
        "ends_at": period.ends_at,
        "payable_minor": side.billed.payable_minor,
    }


def _day(request: Request) -> date | None:
    text = request.query_params.get("day")
    if text is None:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise Invalid(
            "`day` must be a date such as 2026-10-31.",
            code="request.invalid",
            day=["Not a date such as 2026-10-31."],
        ) from None
