"""Cursor pages: stable under inserts and deletes, and as quick on the last page as on the first.

A cursor is the last row's key, so a page is one indexed range read and no counting takes place.
"""

import base64
import binascii
import functools
import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar
from urllib.parse import urlencode

from django.core.exceptions import ValidationError
from django.db.models import Model, Q, QuerySet
from rest_framework.request import Request
from rest_framework.serializers import BaseSerializer

from controlplane.core.errors import Invalid

Row = TypeVar("Row", bound=Model)
DEFAULT_LIMIT = 100
MAX_LIMIT = 1000


class CursorInvalid(Invalid):
    """The cursor was not made by this API."""

    code = "cursor.invalid"


@dataclass(frozen=True)
class Page(Generic[Row]):
    """Rows in order, and the path of the next page (None on the last)."""

    rows: list[Row]
    next: str | None


def page(request: Request, rows: QuerySet[Row], *keys: str, descending: bool = False) -> Page[Row]:
    """Return the page of ``rows`` that ``request`` asks for with ``limit`` and ``cursor``.

    ``keys`` are fields that order the rows and together are unique and not null; ``user__email``
    follows a relation. Rows that come or go elsewhere change nothing; one query whatever the page.

    Raises:
        CursorInvalid: the cursor is not one of ours.
        Invalid: the limit is not a number from 1 to 1000.
    """
    limit = _limit(request)
    cursor = request.query_params.get("cursor")
    if cursor:
        rows = rows.filter(_beyond(keys, _decode(cursor, rows.model, keys), descending))
    signed = [f"-{key}" if descending else key for key in keys]
    found = list(rows.order_by(*signed)[: limit + 1])
    more = len(found) > limit
    found = found[:limit]
    return Page(found, _next(request, _encode(found[-1], keys)) if more else None)


def body(page: Page[Any], serializer: type[BaseSerializer[Any]]) -> dict[str, Any]:
    """Return the JSON body of ``page``."""
    return {"items": serializer(page.rows, many=True).data, "next": page.next}


def _limit(request: Request) -> int:
    text = request.query_params.get("limit", str(DEFAULT_LIMIT))
    if not (text.isascii() and text.isdigit() and len(text) < 6 and 1 <= int(text) <= MAX_LIMIT):
        raise Invalid(
            f"limit must be a whole number from 1 to {MAX_LIMIT}.",
            code="request.invalid",
            limit=[f"Not a whole number from 1 to {MAX_LIMIT}."],
        )
    return int(text)


def _beyond(keys: tuple[str, ...], values: list[Any], descending: bool) -> Q:
    """Return the condition "after the row with these values" for a compound key."""
    compare = "lt" if descending else "gt"
    beyond = Q()
    for depth, key in enumerate(keys):
        same = Q(**dict(zip(keys[:depth], values[:depth], strict=True)))
        beyond |= same & Q(**{f"{key}__{compare}": values[depth]})
    return beyond


def _encode(row: Model, keys: tuple[str, ...]) -> str:
    values = [functools.reduce(getattr, key.split("__"), row) for key in keys]
    text = json.dumps(values, default=datetime.isoformat)
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _decode(cursor: str, model: type[Model], keys: tuple[str, ...]) -> list[Any]:
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        values = json.loads(base64.urlsafe_b64decode(padded.encode("ascii")))
        pairs = list(zip(keys, values, strict=True))
        return [_value(_field(model, key), value) for key, value in pairs]
    except (ValueError, TypeError, binascii.Error, RecursionError, ValidationError):
        raise CursorInvalid(
            "Follow the `next` of a page as it is, or begin without a cursor."
        ) from None


def _field(model: type[Model], key: str) -> Any:
    *relations, last = key.split("__")
    for name in relations:
        related: Any = model._meta.get_field(name).related_model
        model = related
    return model._meta.get_field(last)


def _value(field: Any, value: Any) -> Any:
    """Return what a cursor says of ``field``; raises when it cannot be compared with it."""
    if type(value) not in {str, int} or "\x00" in str(value):
        raise ValueError(field)
    str(value).encode()  # a lone surrogate raises here
    found = field.to_python(value)
    if isinstance(found, datetime) and found.tzinfo is None:
        raise ValueError(field)
    return found


def _next(request: Request, cursor: str) -> str:
    query = {**request.query_params.dict(), "cursor": cursor}
    return f"{request.path}?{urlencode(query)}"
