"""Every URL of the web server with the methods to try on it, as Django's resolver knows them."""

import re
from collections.abc import Iterator, Mapping
from urllib.parse import quote

from django.urls import URLPattern, URLResolver, get_resolver

API = "api/v1/"
# A page of the portal answers a browser, which sends no other methods.
_OF_PAGES = ("GET", "POST")
_OF_API = ("GET", "POST", "PUT", "PATCH", "DELETE")
_PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>")


def list_routes() -> list[str]:
    """Return each route once, without its leading slash: ``t/<slug:tenant>/spaces/``."""
    return list(dict.fromkeys(_walk(get_resolver().url_patterns, "")))


def methods_of(route: str) -> tuple[str, ...]:
    """Return the HTTP methods to try on ``route``."""
    return _OF_API if route.startswith(API) else _OF_PAGES


def path_of(route: str, values: Mapping[str, str]) -> str:
    """Return the path of ``route`` in which ``values`` stand for the parameters.

    A value whose name begins with a part of the route, as in ``staff/kept-volumes/space``, counts
    for routes with that part only.

    Raises:
        KeyError: there is no value for a parameter: make such a row in ``furnished.py``.
    """

    def value(match: re.Match[str]) -> str:
        own = [
            text
            for name, text in values.items()
            if name.endswith(f"/{match[1]}") and name.removesuffix(match[1]) in route
        ]
        return quote(own[0] if own else values[match[1]], safe="/@")

    return "/" + _PARAMETER.sub(value, route)


def _walk(patterns: list[URLPattern | URLResolver], before: str) -> Iterator[str]:
    for pattern in patterns:
        route = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from _walk(pattern.url_patterns, route)
        else:
            yield route
