"""A response that stays open and reports the changes of one space (server-sent events).

A view authenticates the caller and returns an ``EventStreamResponse``. The web server
(``controlplane.web``) then sends the events, and no thread or database connection waits with it.
It sends the same request to Django again every ``EVENT_RECHECK_SECONDS``, marked with ``RECHECK``,
and ends the stream when the answer is not an ``EventStreamResponse`` of the same space.

Triggers in the database report changes on ``CHANNEL`` (migration 0007 of ``workers``).
"""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from django.http import HttpRequest, HttpResponse

from controlplane.core.errors import RateLimited

CHANNEL = "waypost_changes"
RECHECK = "waypost.recheck"  # a key of the WSGI environment: no client can set it
# Of one web server process.
MOST_STREAMS = 1000
MOST_OF_A_TENANT = 100

_open: Counter[str] = Counter()
_lock = threading.Lock()


class TooManyStreams(RateLimited):
    """The tenant, or the process, has as many open event streams as it may have."""

    code = "events.too_many"


class EventStreamResponse(HttpResponse):
    """The beginning of an event stream. A server that cannot stream sends only this, and ends."""

    def __init__(self, tenant_id: str, space_id: str) -> None:
        # Clients that are disconnected open the stream again after 3 s.
        super().__init__("retry: 3000\nevent: open\ndata: {}\n\n", content_type="text/event-stream")
        self.tenant_id = tenant_id
        self.space_id = space_id
        self["Cache-Control"] = "no-store"
        self["X-Accel-Buffering"] = "no"  # proxies of the nginx kind pass each event on at once


def require_free(request: HttpRequest, tenant_id: str) -> None:
    """Check that the tenant may open another stream.

    Raises:
        TooManyStreams: it has too many, or the process has.
    """
    if request.META.get(RECHECK):
        return  # this stream is open already
    with _lock:
        full = _open[tenant_id] >= MOST_OF_A_TENANT or _open.total() >= MOST_STREAMS
    if full:
        raise TooManyStreams(
            "Too many event streams are open. Close one, or read the space now and then instead.",
            retry_after_seconds=30,
        )


@contextmanager
def counted(tenant_id: str) -> Iterator[None]:
    """Count a stream of the tenant as open while the context lasts."""
    with _lock:
        _open[tenant_id] += 1
    try:
        yield
    finally:
        with _lock:
            _open[tenant_id] -= 1
            if not _open[tenant_id]:
                del _open[tenant_id]
