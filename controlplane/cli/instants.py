"""Options of the command that are points in time."""

from datetime import UTC, datetime

import typer

WHEN = "A date or a time, ISO 8601; UTC unless it has an offset."
UNTIL = f"The end, not included. {WHEN}"


def instant(text: str) -> datetime:
    """Return an option's text, in ISO 8601, as an instant with an offset.

    A date means its midnight. A time without an offset is in UTC.

    Raises:
        typer.BadParameter: the text is neither a date nor a time.
    """
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(
            f"{text!r} is neither a date nor a time: write 2026-11-01 or 2026-11-01T08:00:00Z."
        ) from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
