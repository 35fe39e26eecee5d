"""Request ids: every request has one, and every log line and task that it causes carries it.

A client may send its own in ``X-Request-ID``; the response always has the id. The web server binds
it for the log, ``core.enqueue`` sends it with each Celery task, and the worker binds it there. The
auth service binds one for each login of a messaging client.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import structlog
from django.http import HttpRequest, HttpResponseBase

from controlplane.core import ids

HEADER = "X-Request-ID"
# The name of the id in log lines, and of the header of Celery tasks.
NAME = "request_id"
_ACCEPTED = re.compile(r"[A-Za-z0-9._-]{1,64}")  # ids that callers may choose; they go into logs


def current() -> str:
    """Return the id of the request that this thread works for; empty if there is none."""
    return str(structlog.contextvars.get_contextvars().get(NAME, ""))


@contextmanager
def bound(request_id: str) -> Iterator[str]:
    """Bind ``request_id`` for the log until the block ends; an empty one is replaced by a new id.

    Yields the id.
    """
    chosen = request_id or ids.new("req")
    with structlog.contextvars.bound_contextvars(**{NAME: chosen}):
        yield chosen


def chosen(sent: str) -> str:
    """Return the id of a request whose client sent ``sent``, which may be empty.

    The client's own is used if it has 1 to 64 letters, digits, dots, underscores or hyphens, so
    that nobody writes lines of their own into the log. Otherwise the request gets a new one.
    """
    return sent if _ACCEPTED.fullmatch(sent) else ids.new("req")


class RequestIdMiddleware:
    """Binds the id of each request, and sets it in the response."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        with bound(chosen(request.headers.get(HEADER, ""))) as request_id:
            response = self.get_response(request)
        response.headers[HEADER] = request_id
        return response
