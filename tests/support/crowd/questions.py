"""Every page and list of the URL map that can be read, with the caller who reads it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.support.access import decisions, url_map
from tests.support.access.furnished import Furnished

# Who reads a page of several groups: the first of these. Visitors see what members are led away
# from.
_READERS = ("anonymous", "owner", "staff", "owner_token")
# What an operation refuses to answer without.
_INVOICE = "api/v1/tenants/<slug:tenant>/invoices/<str:invoice>"
_NEEDED = {
    "api/v1/tenants/<slug:tenant>/usage/series": "?meter=messages_in",
    f"{_INVOICE}/change": "?from=preview",
}
# Everything that a tenant has, as one document.
_EXPORT = "/export"
# Searches and filters that look at many rows, and late pages: what a list costs at its worst.
_VARIANTS = {
    "t/<slug:tenant>/search": ("q=queue-0", "q=nothing-like-it"),
    "t/<slug:tenant>/audit/": ("q=nothing-like-it", "page=40"),
    "t/<slug:tenant>/spaces/": ("sort=addresses", "label=team%3Dteam-1"),
    "t/<slug:tenant>/spaces/<slug:space>/": ("sort=messages", "q=queue-04", "page=9"),
    "t/<slug:tenant>/usage/": ("space=orders", "label=team"),
    "t/<slug:tenant>/alarms/": ("page=100",),
    "staff/tenants/": ("sort=used", "sort=invoiced", "show=near", "q=customer-9"),
    "staff/fleet/": ("q=space-002", "sort=waiting", "state=Active&page=90"),
    "staff/invoices/": ("state=paid", "page=100"),
    "staff/audit/": ("q=nothing-like-it", "page=100"),
    "staff/search": ("q=customer-9", "q=nothing-like-it"),
    "staff/mailbox/": ("page=100",),
    "api/v1/tenants/<slug:tenant>/address-spaces": ("limit=1000",),
    "api/v1/tenants/<slug:tenant>/operations": ("state=Running",),
    "api/v1/tenants/<slug:tenant>/audit-events": ("subject_name=nothing", "actor=operator"),
    "api/v1/staff/tenants": ("search=customer-9",),
    "api/v1/staff/invoices": ("state=paid",),
}


@dataclass(frozen=True)
class Question:
    """A GET of ``path``, which is ``route`` with values, by ``caller``."""

    route: str
    path: str
    caller: str

    def __str__(self) -> str:
        query = self.path.partition("?")[2]
        return f"{self.route or '/'}{'?' if query else ''}{query}"

    def ask(self, furnished: Furnished) -> Any:
        """Return the complete answer."""
        answer = furnished.callers[self.caller]("GET", self.path, None)
        if answer.streaming and not _is_endless(answer):
            answer.read_bytes = len(b"".join(answer))
        return answer


def size_of(answer: Any) -> int:
    """Return the bytes of the body of an answer of ``Question.ask``."""
    if answer.streaming:
        return int(getattr(answer, "read_bytes", 0))
    return len(answer.content)


def is_file(answer: Any) -> bool:
    """Return whether the answer is a file, an export or all metrics, and no page or list."""
    is_metrics = str(answer.get("Content-Type")).startswith("text/plain; version=")
    is_export = str(answer.request["PATH_INFO"]).endswith(_EXPORT)
    return (
        is_metrics
        or is_export
        or str(answer.get("Content-Disposition", "")).startswith("attachment")
    )


def list_questions(furnished: Furnished) -> Iterator[Question]:
    """Yield a question for each route that somebody may GET."""
    for route in url_map.list_routes():
        group = decisions.DECISIONS.get(route, {}).get("GET", frozenset())
        caller = next((name for name in _READERS if name in group), None)
        if caller:
            path = url_map.path_of(route, furnished.values)
            yield Question(route, path + _NEEDED.get(route, ""), caller)


def _is_endless(answer: Any) -> bool:
    return str(answer["Content-Type"]).startswith("text/event-stream")


def list_variants(furnished: Furnished) -> Iterator[Question]:
    """Yield questions with a query string: filters and searches over many rows, and late pages."""
    for question in list_questions(furnished):
        for query in _VARIANTS.get(question.route, ()):
            yield Question(question.route, f"{question.path}?{query}", question.caller)
