"""The one form of times in the API: RFC 3339 in UTC with six decimals and ``Z``.

Every time in an answer has this form, so texts compare like times. ``DATETIME_FORMAT`` in the
settings makes DRF's fields write it, and ``Renderer`` writes it for values without a field. Stored
invoice documents keep the form that they were issued with.
"""

from datetime import UTC, datetime
from typing import Any

from rest_framework import renderers, serializers
from rest_framework.utils.encoders import JSONEncoder

from controlplane.core.instants import FORMAT as FORMAT
from controlplane.core.instants import text as text

# An instant outside is a mistake. Some arithmetic on time zones overflows near years 1 and 9999.
_EARLIEST, _LATEST = datetime(2000, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)


class InstantField(serializers.DateTimeField):
    """An instant from the year 2000 up to 2200-01-01; a time without an offset is in UTC."""

    def to_internal_value(self, value: Any) -> datetime:
        """Return the ISO 8601 text ``value`` as an instant.

        Raises:
            ValidationError: ``value`` cannot be read, or lies outside the range of years.
        """
        instant = super().to_internal_value(value)
        if not _EARLIEST <= instant <= _LATEST:
            raise serializers.ValidationError("Use an instant from 2000 to 2200.")
        return instant


class StoredInstantField(serializers.DateTimeField):
    """An instant that a JSON column stores as ISO 8601 text with an offset; for answers only."""

    def to_representation(self, value: str) -> str:  # type: ignore[override]  # text, not datetime
        """Return the stored text in the form of the API."""
        return text(datetime.fromisoformat(value))


class _Encoder(JSONEncoder):
    def default(self, value: Any) -> Any:
        return text(value) if isinstance(value, datetime) else super().default(value)


class Renderer(renderers.JSONRenderer):
    """DRF's JSON renderer, which writes every ``datetime`` in the form of the API."""

    encoder_class = _Encoder
