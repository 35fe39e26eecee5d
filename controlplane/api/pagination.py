"""Cursor pages: stable under inserts and deletes, and the last page is as fast as the first.

A cursor holds the name of the order and the values of the ordering fields in the last row of a
page. The next page has the rows after these values, so it takes one query without an offset. Rows
are never counted. ADR 13 says why this is not DRF's ``CursorPagination``. Views call ``page`` of
``controlplane.api.listing`` and ``body``.
"""

import base64
import binascii
import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar
from urllib.parse import urlencode

from django.core.exceptions import ValidationError
from django.db.models import Model, Q, QuerySet
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.serializers import BaseSerializer

from controlplane.core.errors import Invalid

Row = TypeVar("Row", bound=Model)
DEFAULT_LIMIT = 100  # rows on a page
MAX_LIMIT = 1000  # rows on a page that a caller may request
PARAMETERS = [
    OpenApiParameter(
        "limit",
        {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "default": DEFAULT_LIMIT},
        description="Rows in a page.",
    ),
    OpenApiParameter("cursor", str, description="From the `next` of the previous page."),
]


class CursorInvalid(Invalid):
    """The ``cursor`` in a request is not one that this API made."""

    status = 400
    code = "cursor.invalid"


@dataclass(frozen=True)
class Page(Generic[Row]):
    """A value: the rows of one page in order, and the path and query of the next page.

    ``next`` is None on the last page.
    """

    rows: list[Row]
    next: str | None


@dataclass(frozen=True, eq=False)
class Keyset:
    """The fields that order the list ``rows``. It encodes and decodes the cursors of this order.

    ``order`` is the name of the order; ``-`` before it reverses the order of the rows. ``keys`` are
    names of fields of the model, where ``user__email`` follows a relation, or of annotations of
    ``rows``. Together they are unique, and none is null.
    """

    rows: QuerySet[Any]
    order: str
    keys: tuple[str, ...]

    @property
    def descending(self) -> bool:
        """Whether the rows with the largest values come first."""
        return self.order.startswith("-")

    def ordering(self) -> list[str]:
        """Return the arguments of ``order_by`` for this order."""
        return [f"-{key}" if self.descending else key for key in self.keys]

    def beyond(self, values: list[Any]) -> Q:
        """Return the condition that selects the rows after the one with these ``values``.

        For the keys (a, b) and the values (1, 2): a > 1 or (a = 1 and b > 2). With ``descending``,
        < takes the place of >.
        """
        compare = "lt" if self.descending else "gt"
        beyond = Q()
        for depth, key in enumerate(self.keys):
            same = Q(**dict(zip(self.keys[:depth], values[:depth], strict=True)))
            beyond |= same & Q(**{f"{key}__{compare}": values[depth]})
        return beyond

    def encode(self, row: Model) -> str:
        """Return the cursor of ``row``: order and values of ``keys`` as JSON in URL-safe base64."""
        values = [functools.reduce(getattr, key.split("__"), row) for key in self.keys]
        text = json.dumps([self.order, *values], default=lambda value: value.isoformat())
        return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")

    def decode(self, cursor: str) -> list[Any]:
        """Return the values in ``cursor`` as Python values of the fields, one for each key.

        Raises:
            CursorInvalid: ``cursor`` is no cursor of this order. A client may send any text.
        """
        try:
            # ``encode`` cuts the padding off, because ``=`` would be escaped in a query string.
            padded = cursor + "=" * (-len(cursor) % 4)
            order, *values = json.loads(base64.urlsafe_b64decode(padded.encode("ascii")))
            if order != self.order:
                raise ValueError(order)
            pairs = list(zip(self.keys, values, strict=True))
            return [comparable(self.field(key), value) for key, value in pairs]
        # Anyone can send any cursor: bad base64, bad or deeply nested JSON, values of another type.
        except (ValueError, TypeError, binascii.Error, RecursionError, ValidationError):
            raise CursorInvalid(
                "Use the `next` of a page unchanged, or begin without a cursor."
            ) from None

    def field(self, key: str) -> Any:
        """Return the field of the model, or of an annotation, that ``key`` names."""
        annotation: Any = self.rows.query.annotations.get(key)
        if annotation is not None:
            return annotation.output_field
        *relations, last = key.split("__")
        model = self.rows.model
        for name in relations:
            related: Any = model._meta.get_field(name).related_model
            model = related
        return model._meta.get_field(last)


def page(request: Request, rows: QuerySet[Row], order: str, keys: tuple[str, ...]) -> Page[Row]:
    """Return the page of ``rows`` that the request's ``limit`` and ``cursor`` select.

    ``order`` and ``keys`` are those of a ``Keyset``. Every page takes one query.

    Raises:
        CursorInvalid: the cursor is not one that this API made for this order.
        Invalid: the limit is not a whole number from 1 to 1000.
    """
    limit, keyset = limit_of(request), Keyset(rows, order, keys)
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


def whole(items: Sequence[Any]) -> dict[str, Any]:
    """Return the JSON body of a list that always has a single page; ``items`` are bodies."""
    return {"items": items, "next": None}


def body(
    page: Page[Any],
    serializer: type[BaseSerializer[Any]],
    context: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the JSON body of ``page``: ``items``, serialized by ``serializer``, and ``next``.

    ``serializer`` gets ``context``, which is that of the serializer of one item.
    """
    items = serializer(page.rows, many=True, context=dict(context or {})).data
    return {"items": items, "next": page.next}


def limit_of(request: Request) -> int:
    """Return the query parameter ``limit``, the largest number of rows in a page; 100 if absent.

    Raises:
        Invalid: ``limit`` is not a whole number from 1 to 1000.
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
    """Return ``value`` from a cursor's JSON as the Python value of the model field ``field``.

    Raises:
        ValueError: PostgreSQL could not compare the value with the column: it is neither text nor
            integer, has a NUL or a lone surrogate, or is a time without a time zone.
        ValidationError: the field cannot have this value.
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
