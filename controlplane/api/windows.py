"""Windows of time in query strings: half-open instants, the running month when absent."""

from datetime import UTC, datetime
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request

from controlplane.api.serializers import StrictSerializer
from plans import periods
from plans.periods import Period

PARAMETERS = [
    OpenApiParameter("starts_at", datetime, description="Begin of the running month when absent."),
    OpenApiParameter("ends_at", datetime, description="End of that month when absent."),
]


# Instants beyond these are typing errors, and some arithmetic on time zones overflows there.
_EARLIEST, _LATEST = datetime(2000, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)


class InstantField(serializers.DateTimeField):
    """An instant with a plausible year."""

    def to_internal_value(self, value: Any) -> datetime:
        """Return the instant."""
        instant = super().to_internal_value(value)
        if not _EARLIEST <= instant <= _LATEST:
            raise serializers.ValidationError("Use an instant from 2000 to 2200.")
        return instant


class _WindowSerializer(StrictSerializer):
    starts_at = InstantField(required=False)
    ends_at = InstantField(required=False)


def of(request: Request, zone: str) -> Period:
    """Return the window that ``request`` asks for; ``zone`` says where months begin.

    Raises:
        ValidationError: an instant cannot be read.
        Invalid: the window does not go forward.
    """
    given = {k: v for k, v in request.query_params.items() if k in {"starts_at", "ends_at"}}
    asked = _WindowSerializer(data=given)
    asked.is_valid(raise_exception=True)
    starts_at = asked.validated_data.get("starts_at")
    month = periods.month_of(starts_at or timezone.now(), zone)
    return Period(starts_at or month.starts_at, asked.validated_data.get("ends_at", month.ends_at))


def others(request: Request) -> dict[str, str]:
    """Return the query parameters that are not the window's."""
    return {
        k: v for k, v in request.query_params.dict().items() if k not in {"starts_at", "ends_at"}
    }
