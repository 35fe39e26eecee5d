"""Sends one event stream to one client, without a thread or a database connection of its own.

``controlplane.core.event_streams`` says who may open a stream.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from django.conf import settings

from controlplane.core import event_streams
from controlplane.core.event_streams import EventStreamResponse
from controlplane.web.changes import Changes, Subscription
from controlplane.web.requests import Message, Receive

# A comment is sent this often. It keeps proxies from closing the connection, and shows this server
# whether the client is still there.
_ALIVE_SECONDS = 15.0
# A stream ends if its client takes no bytes for this long.
_SEND_SECONDS = 20.0
# A stream ends after this time. The client then connects again, perhaps to another process, which
# spreads clients over all processes after a deployment.
_LONGEST_SECONDS = 3600.0


class Listener:
    """Sends the event stream that ``response`` begins to one client; call ``serve`` once.

    ``changes`` gives the changes of the space. ``stopping`` ends the stream when it is set. The
    stream awaits ``may_listen`` every ``EVENT_RECHECK_SECONDS`` and ends when the result is False.
    """

    def __init__(
        self,
        response: EventStreamResponse,
        changes: Changes,
        stopping: asyncio.Event,
        may_listen: Callable[[], Awaitable[bool]],
    ) -> None:
        self._response, self._changes = response, changes
        self._stopping, self._may_listen = stopping, may_listen

    async def serve(
        self,
        receive: Receive,
        send: Callable[[Message], Awaitable[None]],
        headers: list[tuple[bytes, bytes]],
    ) -> None:
        """Send the response and then events until the stream ends; count it as open meanwhile.

        The stream ends when the client leaves or takes no bytes, when ``may_listen`` is False, when
        the server stops, or after an hour. ``headers`` are those of the response. ``receive`` and
        ``send`` are those of ASGI.
        """
        # Django's Content-Length is that of the first event alone.
        headers = [(name, value) for name, value in headers if name != b"content-length"]
        with (
            event_streams.counted(self._response.tenant_id),
            self._changes.subscribe(self._response.space_id) as subscription,
        ):
            # The response begins only after this: clients read the space when the stream is open,
            # and a change after that read must not be lost.
            await self._changes.wait_listening(5)
            start = {"type": "http.response.start", "status": 200, "headers": headers}
            await send(start)

            # Three tasks write. Each write is one whole event, so events do not mix.
            async def write(text: bytes) -> None:
                async with asyncio.timeout(_SEND_SECONDS):
                    await send({"type": "http.response.body", "body": text, "more_body": True})

            await write(self._response.content)
            ends = [
                asyncio.create_task(coroutine)
                for coroutine in (
                    self._send_events(subscription, write),
                    self._keep_alive(write),
                    self._watch_access(write),
                    _wait_disconnected(receive),
                    self._stopping.wait(),
                )
            ]
            try:
                await asyncio.wait(
                    ends, return_when=asyncio.FIRST_COMPLETED, timeout=_LONGEST_SECONDS
                )
            finally:
                for task in ends:
                    task.cancel()
                # An error of a task is an end like any other, such as a client that takes no bytes.
                await asyncio.gather(*ends, return_exceptions=True)
        await send({"type": "http.response.body", "body": b""})

    async def _send_events(
        self, subscription: Subscription, write: Callable[[bytes], Awaitable[None]]
    ) -> None:
        while True:
            changes = await subscription.take()
            await write(b"".join(_event(change) for change in changes))

    async def _keep_alive(self, write: Callable[[bytes], Awaitable[None]]) -> None:
        while True:
            await asyncio.sleep(_ALIVE_SECONDS)
            await write(b": alive\n\n")

    async def _watch_access(self, write: Callable[[bytes], Awaitable[None]]) -> None:
        while True:
            await asyncio.sleep(settings.EVENT_RECHECK_SECONDS)
            if not await self._may_listen():
                await write(b"event: end\ndata: {}\n\n")
                return


async def _wait_disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _event(change: Mapping[str, Any]) -> bytes:
    """Return ``change`` as a server-sent event: its kind is the name, its other values the data."""
    values = {name: value for name, value in change.items() if name != "kind"}
    return f"event: {change['kind']}\ndata: {json.dumps(values)}\n\n".encode()
