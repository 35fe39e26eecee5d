"""How a value reads in a table: money, instants and nested values in words. JSON stays raw.

Called by ``controlplane.cli.output``. What a value is, its name says: ``…_minor`` is money in minor
units of the row's ``currency``, ``…_at`` an instant.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from plans import money

_INSTANTS = ("since", "as_of")
_NOTHING = "-"


def heading(name: str) -> str:
    """Return the name of a field for people: ``total_minor`` is ``total``."""
    return name.removesuffix("_minor").replace("_", " ")


def text(name: str, value: Any, row: Mapping[str, Any]) -> str:
    """Return what a person reads of the field ``name`` of ``row``."""
    if value is None or value == []:
        return _NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return _pairs({"currency": row.get("currency"), **value}, value)
    if isinstance(value, list):
        separator = "\n" if isinstance(value[0], dict) else ", "
        return separator.join(text(name, each, row) for each in value)
    if name.endswith("_minor") and row.get("currency"):
        return money.display(value, row["currency"])
    if name.endswith("_at") or name in _INSTANTS:
        return instant(value)
    return str(value)


def instant(value: str) -> str:
    """Return an ISO 8601 instant to the second, in UTC; what is none comes back as it is."""
    try:
        return datetime.fromisoformat(value).astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (TypeError, ValueError):
        return str(value)


def _pairs(row: Mapping[str, Any], shown: Mapping[str, Any]) -> str:
    words = {heading(name): text(name, value, row) for name, value in shown.items()}
    return ", ".join(f"{name}: {said}" for name, said in words.items() if said not in ("", "-"))
