"""When a token ends, as the command takes it."""

from datetime import UTC, datetime

import pytest

from controlplane.cli import tokens
from controlplane.core.errors import Invalid

NOW = datetime(2026, 11, 25, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("90d", "2027-02-23T00:00:00+00:00"),
        ("2027-01-31", "2027-01-31T00:00:00+00:00"),
        ("2027-01-31T12:00:00+01:00", "2027-01-31T12:00:00+01:00"),
        ("never", None),
    ],
)
def test_days_a_date_a_time_and_never(text: str, end: str | None) -> None:
    assert tokens.expiry(text, NOW) == end


@pytest.mark.parametrize(
    "text", ["", "0d", "d", "-1d", "7", "soon", "1.5d", "99999999999d", "2026-11-24"]
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(Invalid, match=r"is no end|not in the future") as refused:
        tokens.expiry(text, NOW)

    assert refused.value.error_code == "expires.invalid"
