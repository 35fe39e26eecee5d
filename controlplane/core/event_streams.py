"""Event streams: responses that stay open and report the changes of one space (server-sent events).

A view authenticates the caller and returns an ``EventStreamResponse``. The web server
(``controlplane.web``) then sends the events, and no thread or database connection waits with it.
Every ``settings.EVENT_RECHECK_SECONDS`` the web server sends the same request to Django again,
marked with ``RECHECK``. An answer of status 500 or more changes nothing. Any other answer ends the
stream, unless it is an ``EventStreamResponse`` of the same space.

Triggers in the database report changes on the PostgreSQL channel ``CHANNEL`` (migration 0007 of
``workers``). The counts of open streams are those of one process.
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
MOST_OF_A_TENANT = 100  # in one process

_open: Counter[str] = Counter()
_lock = threading.Lock()


class TooManyStreams(RateLimited):
    """The tenant, or this web server process, has as many open event streams as it may have."""

    code = "events.too_many"


class EventStreamResponse(HttpResponse):
    """A Django response that holds only the first event of a stream, ``open``.

    The web server takes it as the order to send the events of the space ``space_id`` after it.
    Another server, such as a test client, sends this response alone and ends it.
    """

    def __init__(self, tenant_id: str, space_id: str) -> None:
        # Clients that are disconnected open the stream again after 3 s.
        super().__init__("retry: 3000\nevent: open\ndata: {}\n\n", content_type="text/event-stream")
        self.tenant_id = tenant_id
        self.space_id = space_id
        self["Cache-Control"] = "no-store"
        self["X-Accel-Buffering"] = "no"  # proxies of the nginx kind pass each event on at once


def require_free(request: HttpRequest, tenant_id: str) -> None:
    """Check that the tenant may open another stream in this process; ``counted`` counts it later.

    Accepts a request that the web server repeats for a stream that is open (``RECHECK``).

    Raises:
        TooManyStreams: the tenant has ``MOST_OF_A_TENANT`` open streams in this process, or the
            process has ``MOST_STREAMS``.
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
    """Count one more stream of the tenant as open in this process until the block ends."""
    with _lock:
        _open[tenant_id] += 1
    try:
        yield
    finally:
        with _lock:
            _open[tenant_id] -= 1
            # Else each tenant that ever had a stream would stay in memory.
            if not _open[tenant_id]:
                del _open[tenant_id]
