"""Serving one event stream to one client, without a thread and without a database connection.

``controlplane.core.event_streams`` says who may open one.
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

# A comment this often shows proxies, and this server, that the client is there.
_ALIVE_SECONDS = 15.0
# A client that takes no bytes for so long is disconnected.
_SEND_SECONDS = 20.0
# Then the client connects again, perhaps to another process: spreads clients after a deployment.
_LONGEST_SECONDS = 3600.0


class Listener:
    """One client of an event stream. ``may_listen`` tells whether it still may read the space."""

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
        """Send events until the client leaves, may no longer listen, or the server stops."""
        headers = [(name, value) for name, value in headers if name != b"content-length"]
        with (
            event_streams.counted(self._response.tenant_id),
            self._changes.subscribe(self._response.space_id) as subscription,
        ):
            # From here on no change is lost: clients read the space when the stream is open.
            await self._changes.wait_listening(5)
            start = {"type": "http.response.start", "status": 200, "headers": headers}
            await send(start)

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
    """Return a change as a server-sent event named by its kind."""
    values = {name: value for name, value in change.items() if name != "kind"}
    return f"event: {change['kind']}\ndata: {json.dumps(values)}\n\n".encode()
