"""/tenants/{tenant}/usage: metered usage, from the copy of gold usage that invoices read too."""

import csv
import io
from typing import Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api import schema, windows
from controlplane.api.serializers import ChoiceOf, StrictSerializer
from controlplane.api.views import TenantView
from controlplane.core import spreadsheets
from controlplane.core.downloads import attachment
from plans.rating.periods import Period
from plans.usage import meters, reading
from tenants import queries
from tenants.models import Tenant
from tenants.permissions import Permission

# Only sampled meters: lifetimes and sums of meters are computed when a period is priced.
METERS = list(meters.METERS)


class FigureSerializer(serializers.Serializer[Any]):
    """The usage of one meter by one address; where `address` is empty, by the space itself.

    `quantity` is the sum over the window; of the meter `peak_connections` it is the largest value.
    """

    space_id = serializers.CharField()
    space = serializers.CharField(help_text="The name; a deleted space keeps it.")
    address = serializers.CharField(allow_blank=True)
    meter = serializers.ChoiceField(METERS)
    quantity = serializers.IntegerField(help_text="In base units: messages, milliseconds, …")


class UsageSerializer(serializers.Serializer[Any]):
    """The usage in a window, as far as samples taken before `as_of` show it.

    `totals` maps each meter to its quantity over all spaces: a sum, or the largest value of
    `peak_connections`. `as_of` is null before any usage was computed.
    """

    starts_at = serializers.DateTimeField()
    ends_at = serializers.DateTimeField()
    as_of = serializers.DateTimeField(allow_null=True)
    totals = serializers.DictField(child=serializers.IntegerField())
    items = FigureSerializer(many=True)


class SeriesQuerySerializer(StrictSerializer):
    """The query parameters of a usage series, without its window; an empty space means all."""

    meter = ChoiceOf(METERS)
    step = ChoiceOf(["hour", "day"], default="hour")
    space = serializers.CharField(required=False, default="", max_length=63)


class PointSerializer(serializers.Serializer[Any]):
    """One step of a series: when the step starts, and the usage in the step in base units."""

    at = serializers.DateTimeField()
    quantity = serializers.IntegerField()


class SeriesSerializer(serializers.Serializer[Any]):
    """The usage of one meter over time, oldest step first; steps without usage are left out."""

    meter = serializers.ChoiceField(METERS)
    step = serializers.ChoiceField(["hour", "day"])
    as_of = serializers.DateTimeField(allow_null=True)
    items = PointSerializer(many=True)


class UsageView(TenantView):
    """Answers with the usage of a tenant in a window (GET)."""

    needs = {"GET": Permission.VIEW}

    @schema.describe("Get usage", response=UsageSerializer, parameters=windows.PARAMETERS)
    def get(self, request: Request, tenant: str) -> Response:
        """Return the totals of each meter in the window, and figures per space, address and meter.

        Usage of deleted spaces and addresses is included.
        """
        window = windows.of(request, self.tenant.billing_time_zone)
        totals = reading.totals(self.tenant.pk, window.starts_at, window.ends_at)
        return Response(
            {
                "starts_at": window.starts_at,
                "ends_at": window.ends_at,
                "as_of": reading.as_of(),
                "totals": totals,
                "items": figures_of(self.tenant, window),
            }
        )


class UsageCsvView(TenantView):
    """Answers with the usage of a tenant in a window as a CSV file (GET)."""

    needs = {"GET": Permission.VIEW}

    @schema.describe(
        "Get usage as CSV",
        response={(200, "text/csv"): OpenApiTypes.STR},
        parameters=windows.PARAMETERS,
    )
    def get(self, request: Request, tenant: str) -> HttpResponse:
        """Return one line per space, address and meter with usage, as CSV with a header (RFC 4180).

        Names that a spreadsheet could run as a formula are made harmless.
        """
        window = windows.of(request, self.tenant.billing_time_zone)
        # The id too, because a new space may have the name of a deleted one.
        columns = ["space_id", "space", "address", "meter", "quantity"]
        text = io.StringIO()
        writer = csv.DictWriter(text, columns)
        writer.writeheader()
        for figure in figures_of(self.tenant, window):
            # Tenants choose these two texts, and a spreadsheet runs "=…" as a formula.
            names = {name: spreadsheets.harmless(figure[name]) for name in ("space", "address")}
            writer.writerow({**figure, **names})
        return attachment(text.getvalue(), "text/csv", f"usage-{self.tenant.slug}.csv")


class UsageSeriesView(TenantView):
    """Answers with the usage of one meter of a tenant over time (GET)."""

    needs = {"GET": Permission.VIEW}

    @schema.describe(
        "Get usage over time",
        response=SeriesSerializer,
        parameters=[
            *windows.PARAMETERS,
            OpenApiParameter("meter", str, enum=METERS, required=True),
            OpenApiParameter("step", str, enum=["hour", "day"]),
            OpenApiParameter("space", str, description="One space only, by name."),
        ],
    )
    def get(self, request: Request, tenant: str) -> Response:
        """Return the usage of one meter in each step of the window, of all spaces or of one.

        A step is a full hour, or a day in the tenant's billing time zone.
        """
        zone = self.tenant.billing_time_zone
        window = windows.of(request, zone)
        # Without the window's parameters, which the strict serializer would refuse as unknown.
        serializer = SeriesQuerySerializer(data=windows.others(request))
        serializer.is_valid(raise_exception=True)
        values = serializer.validated_data
        space = queries.get_space(self.tenant, values["space"]).pk if values["space"] else ""
        points = reading.series(
            self.tenant.pk,
            reading.SeriesQuery(
                values["meter"],
                window.starts_at,
                window.ends_at,
                values["step"],
                zone,
                space,
            ),
        )
        return Response(
            {
                "meter": values["meter"],
                "step": values["step"],
                "as_of": reading.as_of(),
                "items": [{"at": at, "quantity": quantity} for at, quantity in points],
            }
        )


def figures_of(tenant: Tenant, window: Period) -> list[dict[str, Any]]:
    """Return a body of ``FigureSerializer`` for each space, address and meter with usage.

    Deleted spaces keep their name; of a space that is unknown, the id takes the place of the name.
    """
    names = queries.space_names(tenant)
    return [
        # A usage record may name a space that has no row.
        {**figure._asdict(), "space": names.get(figure.space_id, figure.space_id)}
        for figure in reading.by_address(tenant.pk, window.starts_at, window.ends_at)
    ]
