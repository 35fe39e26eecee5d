"""One process of the web server: uvicorn, with a time limit for the headers of a request."""

import asyncio
import os
import socket
from collections.abc import Mapping
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from controlplane.web.application import Application, Limits, Wsgi
from controlplane.web.changes import Changes

HEADER_SECONDS = 10.0
_KEEP_ALIVE_SECONDS = 5
# Responses that are under way at the stop may take this long.
STOP_SECONDS = 10
_HEADER_BYTES = 64 * 1024
_TIMEOUT = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


class TimedProtocol(H11Protocol):
    """uvicorn's connection, closed if the headers of a request are not complete in time.

    uvicorn has a limit only for a connection on which no byte of the next request has arrived.
    """

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the time for the first request's headers."""
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Read bytes; start or stop the time for headers."""
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the time."""
        self._stop_watching()
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
    """uvicorn's server. It also stops when the parent process is gone, and ends event streams."""

    def __init__(self, config: uvicorn.Config, application: Application) -> None:
        super().__init__(config)
        self._application = application
        self._parent = os.getppid()

    async def on_tick(self, counter: int) -> bool:
        """Return whether to stop; uvicorn asks ten times a second."""
        return await super().on_tick(counter) or os.getppid() != self._parent

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the event streams, and wait for the other responses."""
        self._application.stopping.set()
        await super().shutdown(sockets)
        await self._application.stop()


def run(listener: socket.socket, wsgi: Wsgi, database: Mapping[str, Any], limits: Limits) -> None:
    """Serve requests until SIGTERM or SIGINT, or until the parent process ends.

    ``database`` holds the parameters of ``psycopg.connect``.
    """
    application = Application(wsgi, Changes(database), limits)
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
