"""Lists: which query parameters filter and sort the rows of a list, and the page that they select.

A view declares one ``Listing``. It documents the parameters and answers with a page of the rows.
All filters that a request has must match. ``sort`` names one of the orders of the list, and
``-`` before it reverses it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import reduce
from operator import or_
from typing import Any, TypeVar

from django.db.models import Model, Q, QuerySet
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request

from controlplane.api import pagination
from controlplane.api.instants import InstantField
from controlplane.api.pagination import Page
from controlplane.core.errors import Invalid
from tenants import label_rules

Row = TypeVar("Row", bound=Model)
_LONGEST = 255  # characters of a filter's value


class Kind(StrEnum):
    """How the value of a filter is read: a text, a part of a text, an instant or a truth value.

    ``PRESENT`` is a truth value too: whether the column has a value. ``LABEL`` is the key of a
    label, or ``key=value``.
    """

    TEXT = "text"
    PART = "part"
    INSTANT = "instant"
    FLAG = "flag"
    PRESENT = "present"
    LABEL = "label"


@dataclass(frozen=True)
class Filter:
    """One query parameter that selects rows.

    ``lookups`` are lookups of Django, of which at least one must match; empty: the name of the
    parameter. ``choices`` are the possible values of a text; empty: any.
    """

    name: str
    text: str
    lookups: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    kind: Kind = Kind.TEXT

    def condition(self, value: str) -> Q:
        """Return the condition of rows that match ``value``, the text of the query parameter.

        Raises:
            Invalid: the value is none of the choices, or has the wrong form.
        """
        wanted = self.read(value)
        ending = {Kind.PART: "__icontains", Kind.PRESENT: "__isnull"}.get(self.kind, "")
        found = self.lookups or (self.name,)
        if self.kind is Kind.LABEL:
            return reduce(or_, (Q(**label_rules.lookup(wanted, lookup)) for lookup in found))
        return reduce(or_, (Q(**{f"{lookup}{ending}": wanted}) for lookup in found))

    def parameter(self) -> OpenApiParameter:
        """Return the documentation of the parameter."""
        types: dict[Kind, Any] = {Kind.INSTANT: datetime, Kind.FLAG: bool, Kind.PRESENT: bool}
        return OpenApiParameter(
            self.name,
            types.get(self.kind, str),
            description=self.text,
            enum=self.choices or None,
        )

    def read(self, value: str) -> Any:
        """Return the value that the text of the query parameter means.

        Raises:
            Invalid: the value is none of the choices, or has the wrong form.
        """
        if self.kind is Kind.INSTANT:
            try:
                return InstantField().run_validation(value)
            except serializers.ValidationError:
                raise _wrong(self.name, "Not an instant such as 2026-01-31T12:00:00Z.") from None
        if self.kind in (Kind.FLAG, Kind.PRESENT):
            if value not in ("true", "false"):
                raise _wrong(self.name, "One of: true, false.")
            return (value == "true") is (self.kind is Kind.FLAG)  # __isnull: the opposite
        if self.choices and value not in self.choices:
            raise _wrong(self.name, f"One of: {', '.join(self.choices)}.")
        # PostgreSQL accepts no NUL in text.
        if len(value) > _LONGEST or "\x00" in value:
            raise _wrong(self.name, f"At most {_LONGEST} characters, none of them NUL.")
        return value


@dataclass(frozen=True)
class Listing:
    """The filters and orders of a list.

    ``sorts`` maps each value of ``sort`` to the fields that order the rows. Together they are
    unique and none is null; ``user__email`` follows a relation. ``default`` is the value of
    ``sort`` for a request without it.
    """

    sorts: Mapping[str, tuple[str, ...]]
    default: str
    filters: tuple[Filter, ...] = ()

    @property
    def parameters(self) -> list[OpenApiParameter]:
        """The documentation of all query parameters of the list."""
        orders = [order for name in self.sorts for order in (name, f"-{name}")]
        sort = OpenApiParameter(
            "sort",
            str,
            enum=orders,
            default=self.default,
            description="The order of the rows; `-` before a name reverses it.",
        )
        return [*pagination.PARAMETERS, sort, *(found.parameter() for found in self.filters)]

    def page(self, request: Request, rows: QuerySet[Row]) -> Page[Row]:
        """Return the page of ``rows`` that the query of ``request`` selects, by one query.

        Raises:
            Invalid: a filter, ``sort`` or ``limit`` has a wrong value.
            CursorInvalid: the cursor is not one that this API made for this order.
        """
        order = request.query_params.get("sort", self.default)
        if order.removeprefix("-") not in self.sorts or order.startswith("--"):
            raise _wrong("sort", f"One of: {', '.join(self.sorts)}, or one with - before it.")
        keys = self.sorts[order.removeprefix("-")]
        return pagination.page(request, self.filtered(request, rows), order, keys)

    def asked(self, request: Request, name: str) -> Any:
        """Return the value of the filter ``name`` in the request; None if it has none.

        Raises:
            Invalid: the filter has a wrong value.
        """
        value = request.query_params.get(name)
        found = next(row for row in self.filters if row.name == name)
        return None if value is None else found.read(value)

    def filtered(self, request: Request, rows: QuerySet[Row]) -> QuerySet[Row]:
        """Return those of ``rows`` that match all filters of the request.

        Raises:
            Invalid: a filter has a wrong value.
        """
        for found in self.filters:
            value = request.query_params.get(found.name)
            if value is not None:
                rows = rows.filter(found.condition(value))
        return rows


def choice(name: str, text: str, choices: Iterable[str], *lookups: str) -> Filter:
    """Return a filter whose value is one of ``choices``."""
    return Filter(name, text, lookups, tuple(map(str, choices)))


def search(text: str, *lookups: str) -> Filter:
    """Return the filter ``search``: its value is part of one of the columns, in either case."""
    return Filter("search", text, lookups, kind=Kind.PART)


def _wrong(name: str, reason: str) -> Invalid:
    return Invalid(f"{name}: {reason}", code="request.invalid", **{name: [reason]})
