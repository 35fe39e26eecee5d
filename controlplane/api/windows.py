"""Reads a window of time from a query: [starts_at, ends_at), by default the current month."""

from datetime import datetime

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from controlplane.api.instants import InstantField
from controlplane.api.serializers import StrictSerializer
from plans.rating import periods
from plans.rating.periods import Period

PARAMETERS = [
    OpenApiParameter("starts_at", datetime, description="Default: start of the running month."),
    OpenApiParameter("ends_at", datetime, description="Default: end of the month of `starts_at`."),
]


class _WindowSerializer(StrictSerializer):
    starts_at = InstantField(required=False)
    ends_at = InstantField(required=False)


def of(request: Request, zone: str) -> Period:
    """Return the window of the query parameters ``starts_at`` and ``ends_at``.

    Without ``starts_at``, the window begins with the current month. Without ``ends_at``, it ends
    with the month in which it begins. Months begin at midnight in the IANA time zone ``zone``.

    Raises:
        ValidationError: an instant cannot be read or is out of range.
        Invalid: the window does not end after it begins.
    """
    # Without the other parameters of the view, which the strict serializer would refuse.
    given = {
        name: value
        for name, value in request.query_params.items()
        if name in {"starts_at", "ends_at"}
    }
    serializer = _WindowSerializer(data=given)
    serializer.is_valid(raise_exception=True)
    starts_at = serializer.validated_data.get("starts_at")
    # The month of ``starts_at``, not the running one: a past month can be named by its beginning.
    month = periods.month_of(starts_at or timezone.now(), zone)
    return Period(
        starts_at or month.starts_at, serializer.validated_data.get("ends_at", month.ends_at)
    )


def others(request: Request) -> dict[str, str]:
    """Return {name: value} of all query parameters except ``starts_at`` and ``ends_at``."""
    return {
        name: value
        for name, value in request.query_params.dict().items()
        if name not in {"starts_at", "ends_at"}
    }
