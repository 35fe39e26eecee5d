"""One process of the web server: uvicorn, with limits on connections and on time for headers."""

import asyncio
import os
import socket
from collections import Counter
from collections.abc import Mapping
from typing import Any, ClassVar

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from controlplane.web.application import Application, Limits, Wsgi
from controlplane.web.changes import Changes

HEADER_SECONDS = 10.0  # in which a request must have sent its headers
_KEEP_ALIVE_SECONDS = 5  # that an idle connection stays open
# Responses that are under way at the stop may take this long.
STOP_SECONDS = 10
_HEADER_BYTES = 64 * 1024  # of one request
_TOO_MANY = (
    b"HTTP/1.1 429 Too Many Requests\r\nconnection: close\r\nretry-after: 5\r\n"
    b"content-length: 0\r\n\r\n"
)
# With ``close``, as RFC 9110 (15.5.9) asks of a server that waits no longer.
_TIMEOUT = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


class TimedProtocol(H11Protocol):
    """One client connection: uvicorn's, with a time limit for the headers of each request.

    If the headers are not complete after ``HEADER_SECONDS``, it answers 408 and closes the
    connection. uvicorn itself has a limit only while no byte of the next request has arrived. A
    connection over ``most_of_a_source`` open ones from the same network address is answered with
    429 and closed at once; 0 means no limit.
    """

    most_of_a_source: ClassVar[int] = 0
    # By network address, of all connections of this process.
    _open: ClassVar[Counter[str]] = Counter()
    _source: str | None = None
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Set up a new connection; start the time limit for the headers of its first request."""
        super().connection_made(transport)
        peer = transport.get_extra_info("peername")
        self._source = str(peer[0]) if peer else ""
        self._open[self._source] += 1
        if 0 < self.most_of_a_source < self._open[self._source]:
            transport.write(_TOO_MANY)
            transport.close()
            return
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Process received bytes. The time limit ends once the headers of a request are complete.

        It starts again with the bytes of the next request.
        """
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Clean up after the connection has ended: cancel the time limit."""
        self._stop_watching()
        if self._source is not None:
            self._open[self._source] -= 1
            # Addresses without connections go, or the counter would grow with every new address.
            if not self._open[self._source]:
                del self._open[self._source]
        super().connection_lost(exc)

    def _watch(self) -> None:
        if self.conn.their_state is not h11.IDLE:  # the headers are complete, or wrong
            self._stop_watching()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(HEADER_SECONDS, self._give_up)

    def _stop_watching(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        if not self.transport.is_closing():
            self.transport.write(_TIMEOUT)
            self.transport.close()


class Server(uvicorn.Server):
    """uvicorn's server of one process, which also stops when the parent process has ended.

    When it stops, it ends the event streams of ``application``, for which it would wait otherwise.
    """

    def __init__(self, config: uvicorn.Config, application: Application) -> None:
        super().__init__(config)
        self._application = application
        self._parent = os.getppid()

    async def on_tick(self, counter: int) -> bool:
        """Return whether the server must stop; uvicorn calls this ten times a second."""
        # An orphan gets another parent, so a changed id says that the parent has ended.
        return await super().on_tick(counter) or os.getppid() != self._parent

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the event streams, wait up to ``STOP_SECONDS`` for other responses, then clean up."""
        self._application.stopping.set()
        await super().shutdown(sockets)
        await self._application.stop()


def run(listener: socket.socket, wsgi: Wsgi, database: Mapping[str, Any], limits: Limits) -> None:
    """Serve ``wsgi`` on the socket ``listener`` in this process, and return when it has stopped.

    It stops at SIGTERM or SIGINT, or when the parent process has ended. ``database`` holds the
    parameters of ``psycopg.connect``, for the connection that receives changes of spaces.
    """
    application = Application(wsgi, Changes(database), limits)
    TimedProtocol.most_of_a_source = limits.source_connections
    config = uvicorn.Config(
        application,
        http=TimedProtocol,
        ws="none",
        lifespan="off",
        loop="asyncio",
        interface="asgi3",
        # Django's settings configure the log, and read X-Forwarded-For (``core.network``).
        log_config=None,
        log_level="warning",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=STOP_SECONDS,
        h11_max_incomplete_event_size=_HEADER_BYTES,
        backlog=2048,
    )
    Server(config, application).run(sockets=[listener])
