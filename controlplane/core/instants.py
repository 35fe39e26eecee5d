"""The one form of times for programs: RFC 3339 in UTC with six decimals and ``Z``.

Answers of the API and fields of events have it. All such texts are equally long, so they compare
like times.
"""

from datetime import UTC, datetime

FORMAT = "%Y-%m-%dT%H:%M:%S.%fZ"


def text(instant: datetime) -> str:
    """Return ``instant``, which has a time zone, in this form."""
    return instant.astimezone(UTC).strftime(FORMAT)


def of_message(milliseconds: int) -> datetime | None:
    """Return an instant of a message, in ms since 1970; None for 0, which stands for no instant.

    A client may have set any number. One that no calendar has gives None too.
    """
    try:
        return datetime.fromtimestamp(milliseconds / 1000, UTC) if milliseconds else None
    except (ValueError, OverflowError, OSError):
        return None
