"""Cursor pages: stable under inserts and deletes, and the last page is as fast as the first.

A cursor holds the key of a page's last row, so the next page is one indexed range read. Rows are
never counted. ADR 13 says why this is not DRF's ``CursorPagination``.
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
    """The cursor does not come from this API."""

    code = "cursor.invalid"


@dataclass(frozen=True)
class Page(Generic[Row]):
    """Rows in order, and the path of the next page (None on the last)."""

    rows: list[Row]
    next: str | None


def page(request: Request, rows: QuerySet[Row], *keys: str, descending: bool = False) -> Page[Row]:
    """Return the page of ``rows`` that the request's ``limit`` and ``cursor`` select.

    ``keys`` are the fields that order the rows. Together they must be unique, and none may be null;
    ``user__email`` follows a relation. Every page takes one query.

    Raises:
        CursorInvalid: the cursor does not come from this API.
        Invalid: the limit is not a number from 1 to 1000.
    """
    limit = _limit(request)
    # An empty cursor is the first page, like none.
    cursor = request.query_params.get("cursor")
    if cursor:
        rows = rows.filter(_beyond(keys, _decode(cursor, rows.model, keys), descending))
    # One row more than the page has, to know whether another page follows.
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
    """Return the condition "after the row with these values" for a compound key.

    For keys (a, b): a > 1 or (a = 1 and b > 2).
    """
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
    # Anyone can send any cursor: bad base64, bad or deeply nested JSON, values of another type.
    except (ValueError, TypeError, binascii.Error, RecursionError, ValidationError):
        raise CursorInvalid(
            "Use the `next` of a page unchanged, or begin without a cursor."
        ) from None


def _field(model: type[Model], key: str) -> Any:
    *relations, last = key.split("__")
    for name in relations:
        related: Any = model._meta.get_field(name).related_model
        model = related
    return model._meta.get_field(last)


def _value(field: Any, value: Any) -> Any:
    """Return a cursor's value for ``field``; raise if the two cannot be compared."""
    if type(value) not in {str, int} or "\x00" in str(value):
        raise ValueError(field)
    str(value).encode()  # a lone surrogate raises here
    found = field.to_python(value)
    # Cursors of this API always have a time zone; without one, Django would have to guess.
    if isinstance(found, datetime) and found.tzinfo is None:
        raise ValueError(field)
    return found


def _next(request: Request, cursor: str) -> str:
    query = {**request.query_params.dict(), "cursor": cursor}
    return f"{request.path}?{urlencode(query)}"
