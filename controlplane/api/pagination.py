"""Cursor pages: stable under inserts and deletes, and the last page is as fast as the first.

A cursor holds the values of the ordering fields of a page's last row. The next page is the rows
after these values, so it takes one query without an offset. Rows are never counted. ADR 13 says why
this is not DRF's ``CursorPagination``.
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
    """The rows of a page in order, and the path and query of the next page (None on the last)."""

    rows: list[Row]
    next: str | None


@dataclass(frozen=True)
class Keyset:
    """The fields that order the rows of a list; encodes and decodes cursors of that order.

    ``keys`` are names of fields of ``model``. Together they are unique.
    """

    model: type[Model]
    keys: tuple[str, ...]
    descending: bool = False

    def ordering(self) -> list[str]:
        """Return the arguments of ``order_by``."""
        return [f"-{key}" if self.descending else key for key in self.keys]

    def beyond(self, values: list[Any]) -> Q:
        """Return the condition that selects the rows after the one with these ``values``.

        For the keys (a, b) and the values (1, 2): a > 1 or (a = 1 and b > 2).
        """
        compare = "lt" if self.descending else "gt"
        beyond = Q()
        for depth, key in enumerate(self.keys):
            same = Q(**dict(zip(self.keys[:depth], values[:depth], strict=True)))
            beyond |= same & Q(**{f"{key}__{compare}": values[depth]})
        return beyond

    def encode(self, row: Model) -> str:
        """Return the cursor of ``row``: its ordering fields as JSON in URL-safe base64."""
        values = [functools.reduce(getattr, key.split("__"), row) for key in self.keys]
        text = json.dumps(values, default=datetime.isoformat)
        return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")

    def decode(self, cursor: str) -> list[Any]:
        """Return the values in a cursor, one for each key.

        Raises:
            CursorInvalid: the cursor does not come from this API.
        """
        try:
            # ``encode`` cuts the padding off, because ``=`` would be escaped in a query string.
            padded = cursor + "=" * (-len(cursor) % 4)
            values = json.loads(base64.urlsafe_b64decode(padded.encode("ascii")))
            pairs = list(zip(self.keys, values, strict=True))
            return [comparable(self.field(key), value) for key, value in pairs]
        # Anyone can send any cursor: bad base64, bad or deeply nested JSON, values of another type.
        except (ValueError, TypeError, binascii.Error, RecursionError, ValidationError):
            raise CursorInvalid(
                "Use the `next` of a page unchanged, or begin without a cursor."
            ) from None

    def field(self, key: str) -> Any:
        """Return the model's field of a key; ``user__email`` follows the relation."""
        *relations, last = key.split("__")
        model = self.model
        for name in relations:
            related: Any = model._meta.get_field(name).related_model
            model = related
        return model._meta.get_field(last)


def page(request: Request, rows: QuerySet[Row], *keys: str, descending: bool = False) -> Page[Row]:
    """Return the page of ``rows`` that the request's ``limit`` and ``cursor`` select.

    ``keys`` are the fields that order the rows. Together they must be unique, and none may be null;
    ``user__email`` follows a relation. Every page takes one query.

    Raises:
        CursorInvalid: the cursor does not come from this API.
        Invalid: the limit is not a number from 1 to 1000.
    """
    limit, keyset = limit_of(request), Keyset(rows.model, keys, descending)
    # An empty cursor is the first page, like none.
    cursor = request.query_params.get("cursor")
    if cursor:
        rows = rows.filter(keyset.beyond(keyset.decode(cursor)))
    # One row more than the page has, to know whether another page follows.
    found = list(rows.order_by(*keyset.ordering())[: limit + 1])
    if len(found) <= limit:
        return Page(found, None)
    # The other parameters stay, so that a client follows ``next`` without knowing them.
    query = {**request.query_params.dict(), "cursor": keyset.encode(found[limit - 1])}
    return Page(found[:limit], f"{request.path}?{urlencode(query)}")


def body(page: Page[Any], serializer: type[BaseSerializer[Any]]) -> dict[str, Any]:
    """Return the JSON body of ``page``: ``items``, serialized by ``serializer``, and ``next``."""
    return {"items": serializer(page.rows, many=True).data, "next": page.next}


def limit_of(request: Request) -> int:
    """Return the largest number of rows in the page: the parameter ``limit``, by default 100.

    Raises:
        Invalid: it is not a number from 1 to 1000.
    """
    text = request.query_params.get("limit", str(DEFAULT_LIMIT))
    # ``isdigit`` alone accepts digits of other scripts; the length bounds the time of ``int``.
    if not (text.isascii() and text.isdigit() and len(text) < 6 and 1 <= int(text) <= MAX_LIMIT):
        raise Invalid(
            f"limit must be a whole number from 1 to {MAX_LIMIT}.",
            code="request.invalid",
            limit=[f"Not a whole number from 1 to {MAX_LIMIT}."],
        )
    return int(text)


def comparable(field: Any, value: Any) -> Any:
    """Return a cursor's value as the Python value of ``field``.

    Raises:
        ValueError: PostgreSQL could not compare the value with the column.
        ValidationError: the value is not one of the field.
    """
    # PostgreSQL accepts no NUL in text. By ``type``, because isinstance takes a bool for an int.
    if type(value) not in {str, int} or "\x00" in str(value):
        raise ValueError(field)
    str(value).encode()  # a lone surrogate raises here
    found = field.to_python(value)
    # Cursors of this API always have a time zone; without one, Django would have to guess.
    if isinstance(found, datetime) and found.tzinfo is None:
        raise ValueError(field)
    return found
