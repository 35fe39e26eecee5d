"""Formats values of the API as text for tables: money, instants and nested values.

``output`` uses these functions for tables; JSON output keeps the values as they are. The name of a
field decides its format: ``…_minor`` is money in minor units of the row's ``currency``, which is
empty as long as nothing is priced; ``…_at``, ``…_since``, ``at``, ``since`` and ``as_of`` are
instants; ``percent`` is a decimal number.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from plans.rating import money

_INSTANTS = ("at", "since", "as_of")  # beside fields whose names end with _at or _since
_NOTHING = "-"


def heading(name: str) -> str:
    """Return the heading for a field: ``total`` for ``total_minor``, ``due at`` for ``due_at``."""
    return name.removesuffix("_minor").replace("_", " ")


def text(name: str, value: Any, row: Mapping[str, Any]) -> str:
    """Return ``value``, the field ``name`` of ``row``, as text. None and [] become ``-``.

    A nested object becomes pairs ``name: value``; its empty values are left out. A list of objects
    has a line for each object, any other list is separated by commas.
    """
    if value is None or value == []:
        return _NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        # A nested object without a currency of its own uses the currency of the row around it.
        inner = {"currency": row.get("currency"), **value}
        texts = {heading(part): text(part, one, inner) for part, one in value.items()}
        return ", ".join(f"{part}: {cell}" for part, cell in texts.items() if cell not in ("", "-"))
    if isinstance(value, list):
        separator = "\n" if isinstance(value[0], dict) else ", "
        return separator.join(text(name, item, row) for item in value)
    if name.endswith("_minor") and row.get("currency"):
        return money.display(value, row["currency"])
    if name.endswith("_minor") and row.get("currency") == "" and not value:
        return _NOTHING
    if name == "percent":
        return percent(value)
    if name.endswith(("_at", "_since")) or name in _INSTANTS:
        return instant(value)
    return str(value)


def counted(count: int, noun: str) -> str:
    """Return the count with its noun, such as ``1 message`` or ``2 messages``."""
    return f"{count:,} {noun}{'s' * (count != 1)}"


def percent(value: Any) -> str:
    """Return a number, or the text of one, without the zeros at the end of its decimal places."""
    try:
        return f"{Decimal(str(value)).normalize():f}"
    except InvalidOperation:
        return str(value)


def one_line(value: Any) -> Any:
    """Return ``value`` with the control pictures ``␤`` and ``␍`` for line breaks in its texts."""
    if isinstance(value, str):
        return value.replace("\n", "␤").replace("\r", "␍")
    if isinstance(value, dict):
        return {name: one_line(part) for name, part in value.items()}
    return [one_line(part) for part in value] if isinstance(value, list) else value


def instant(value: str) -> str:
    """Return an ISO 8601 instant as text in UTC, to the second; any other value as it is."""
    try:
        return datetime.fromisoformat(value).astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (TypeError, ValueError):
        return str(value)
