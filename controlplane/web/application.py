"""The ASGI application: Django's WSGI application in a bounded number of threads.

A thread runs one request, from its complete body to its complete response. A thread never waits for
a client that sends or reads slowly. So one process has at most one database connection for each
thread, and one more for the event streams (``Changes``).
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from tempfile import SpooledTemporaryFile
from typing import IO, Any

import structlog

from controlplane.core import request_ids
from controlplane.core.event_streams import RECHECK, EventStreamResponse
from controlplane.web import requests, streams
from controlplane.web.changes import Changes
from controlplane.web.requests import Gone, Message, Receive, Refused

Send = Callable[[Message], Awaitable[None]]
Headers = list[tuple[bytes, bytes]]
Wsgi = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]
logger = structlog.get_logger(__name__)
_CHUNK = 64 * 1024  # bytes of a body that are sent at once
# Responses up to this many bytes stay in memory, others go to a temporary file.
_IN_MEMORY = 1024 * 1024
# Statuses without a body. A length is forbidden for 204, and would be that of the 200 for 304
# (RFC 9110, 8.6).
_WITHOUT_LENGTH = frozenset({204, 304})


@dataclass(frozen=True)
class Limits:
    """A value: the limits of one process.

    * ``threads``: requests that run in Django at the same time.
    * ``waiting``: requests that are read and wait for a thread; more are refused (503).
    * ``body_bytes``, ``body_seconds``: the size of a body, and the time in which it must arrive.
    * ``source_connections``: open connections from one network address; 0: no limit.
    """

    threads: int = 4
    waiting: int = 200
    body_bytes: int = 5 * 1024 * 1024
    body_seconds: float = 30.0
    source_connections: int = 0


@dataclass
class Answer:
    """A response of Django. The receiver closes ``body``, a file at its start.

    ``stream`` is None for a complete response. Otherwise the response only begins an event stream,
    and ``streams.Listener`` sends ``stream`` and its events.
    """

    status: int
    headers: Headers
    body: IO[bytes]
    stream: EventStreamResponse | None = None


class Application:
    """The ASGI application of one process: it runs the WSGI application ``wsgi`` in threads.

    Create it once; the server calls it for each request. ``changes`` feeds the event streams. The
    server sets ``stopping`` to end all event streams, and calls ``stop`` last.
    """

    def __init__(self, wsgi: Wsgi, changes: Changes, limits: Limits) -> None:
        self._wsgi, self._changes, self._limits = wsgi, changes, limits
        self._threads = ThreadPoolExecutor(limits.threads, thread_name_prefix="request")
        self._under_way = 0
        self.stopping = asyncio.Event()

    async def __call__(self, scope: Mapping[str, Any], receive: Receive, send: Send) -> None:
        """Answer one HTTP request (ASGI); return when the response is sent. Ignores other scopes.

        A request over a limit is answered with problem+json, without Django. A request for an event
        stream returns when the stream ends.
        """
        if scope["type"] != "http":
            return  # no WebSockets, and no lifespan: ``controlplane.web.server`` calls ``stop``
        try:
            environ = await self._environ(scope, receive)
            try:
                answer = await self._answer(environ)
            finally:
                # Now, and not at the end: an event stream may last an hour.
                environ["wsgi.input"].close()
        except Gone:
            return
        except Refused as refusal:
            await _refuse(send, refusal, scope)
            return
        with answer.body:
            if answer.stream is None:
                await _send(send, answer)
                return

        async def may_listen() -> bool:
            return await self._may_listen(environ, answer.stream)

        listener = streams.Listener(answer.stream, self._changes, self.stopping, may_listen)
        await listener.serve(receive, send, answer.headers)

    async def stop(self) -> None:
        """Close the connection of ``Changes`` and end the threads. Call it after the last response.

        It does not wait for requests that still run.
        """
        await self._changes.stop()
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _environ(self, scope: Mapping[str, Any], receive: Receive) -> dict[str, Any]:
        announced = requests.header(scope, b"content-length")
        body, size = await requests.read_body(
            receive,
            int(announced) if announced.isdigit() else 0,
            limit=self._limits.body_bytes,
            seconds=self._limits.body_seconds,
        )
        return requests.environ(scope, body, size)

    async def _answer(self, environ: dict[str, Any]) -> Answer:
        """Return Django's response, made in a thread as soon as one is free.

        Raises:
            Refused: 503: too many requests wait for a thread already.
        """
        if self._under_way >= self._limits.threads + self._limits.waiting:
            detail = "The server has too many requests at the moment: try again in a second."
            raise Refused(503, "unavailable", detail)
        # No lock: only the event loop changes the count, without an ``await`` since the check.
        self._under_way += 1
        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._threads, self._run, environ)
        finally:
            self._under_way -= 1

    def _run(self, environ: dict[str, Any]) -> Answer:
        status, headers = 500, Headers()

        def start_response(line: str, pairs: list[tuple[str, str]], *_: object) -> None:
            nonlocal status, headers
            status = int(line.split(" ", 1)[0])
            # Django begins the values of Set-Cookie with a blank, which HTTP does not allow.
            headers = [(k.lower().encode("latin-1"), v.strip().encode("latin-1")) for k, v in pairs]

        response = self._wsgi(environ, start_response)
        body = SpooledTemporaryFile(max_size=_IN_MEMORY)
        try:
            for chunk in response:
                body.write(chunk)
        except BaseException:
            body.close()
            raise
        finally:
            # Ends the request in Django, which then keeps or closes the database connection.
            getattr(response, "close", lambda: None)()
        size = body.tell()
        body.seek(0)
        is_counted = any(name == b"content-length" for name, _ in headers)
        if not is_counted and status >= 200 and status not in _WITHOUT_LENGTH:
            headers.append((b"content-length", str(size).encode()))
        stream = response if isinstance(response, EventStreamResponse) else None
        return Answer(status, headers, body, stream)

    async def _may_listen(
        self, environ: dict[str, Any], stream: EventStreamResponse | None
    ) -> bool:
        """Return whether the caller of ``environ`` may still read the space of ``stream``.

        Sends the request through Django again, marked with ``RECHECK``. True also if the server is
        too busy or Django fails with 5xx, because that says nothing about the caller.
        """
        with SpooledTemporaryFile() as empty:
            again = {**environ, "wsgi.input": empty, RECHECK: True}
            try:
                answer = await self._answer(again)
            except Refused:
                return True  # busy; the next check decides
        answer.body.close()
        if answer.status >= 500:
            return True  # the database is away, which says nothing about the caller
        found = answer.stream
        return found is not None and stream is not None and found.space_id == stream.space_id


async def _send(send: Send, answer: Answer) -> None:
    start = {"type": "http.response.start", "status": answer.status, "headers": answer.headers}
    await send(start)
    while chunk := answer.body.read(_CHUNK):
        await send({"type": "http.response.body", "body": chunk, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


async def _refuse(send: Send, refusal: Refused, scope: Mapping[str, Any]) -> None:
    # Not at the top: the server imports this module before it sets up Django.
    from controlplane.api.problem import Problem

    problem = Problem(refusal.status, refusal.code, refusal.detail)
    body = json.dumps(problem.body(scope["path"])).encode()
    request_id = request_ids.chosen(requests.header(scope, b"x-request-id"))
    headers = [
        (b"content-type", b"application/problem+json"),
        (b"content-length", str(len(body)).encode()),
        (b"x-request-id", request_id.encode()),
        # The rest of the request is not read.
        (b"connection", b"close"),
    ]
    if refusal.status == 503:
        headers.append((b"retry-after", b"1"))
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
