"""The changes of spaces, received by one database connection of each process (LISTEN).

A change is what a database trigger reports: a mapping with ``kind`` and, for some kinds, values.
Each event stream has its own ``Subscription``, which keeps only the newest change of each kind. So
a client that reads slowly costs no more memory, and gets the newest change of every kind.
"""

import asyncio
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import psycopg
import structlog

from controlplane.core.event_streams import CHANNEL

logger = structlog.get_logger(__name__)
_RETRY_SECONDS = 1.0  # while the database does not answer
# Given to every subscription when the connection listens after it was lost, or after a stream has
# begun without it: changes may have been missed, so clients read everything again.
MISSED: Mapping[str, Any] = {"kind": "missed"}


class Subscription:
    """A buffer of the changes of one space that its event stream has not sent yet.

    It holds the newest change of each kind. ``Changes`` adds changes, and the stream takes them.
    """

    def __init__(self) -> None:
        self._pending: dict[str, Mapping[str, Any]] = {}
        self._changed = asyncio.Event()

    def add(self, change: Mapping[str, Any]) -> None:
        """Keep ``change`` until it is taken, in place of an older change of the same kind."""
        self._pending[str(change["kind"])] = change
        self._changed.set()

    async def take(self) -> list[Mapping[str, Any]]:
        """Wait until there is a change; return all changes, at most one of each kind.

        They are removed from the subscription.
        """
        await self._changed.wait()
        self._changed.clear()
        taken, self._pending = list(self._pending.values()), {}
        return taken


class Changes:
    """Receives the changes of all spaces from the database, and adds them to subscriptions.

    One object serves a whole process, inside its event loop. It connects to the database when the
    first subscription begins, stays connected until ``stop``, and connects again after a failure.
    ``parameters`` are those of ``psycopg.connect``.
    """

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        self._parameters = parameters
        self._subscriptions: dict[str, set[Subscription]] = defaultdict(set)
        self._task: asyncio.Task[None] | None = None
        self._listening = asyncio.Event()
        self._may_miss = False  # streams may be open while nothing listens

    @contextmanager
    def subscribe(self, space_id: str) -> Iterator[Subscription]:
        """Yield a subscription to the changes of one space, which ends with the context.

        Changes arrive only once ``wait_listening`` returns True.
        """
        # Not in ``__init__``, which runs before there is an event loop.
        if self._task is None:
            self._task = asyncio.create_task(self._run())
        subscription = Subscription()
        self._subscriptions[space_id].add(subscription)
        try:
            yield subscription
        finally:
            self._subscriptions[space_id].discard(subscription)
            if not self._subscriptions[space_id]:
                del self._subscriptions[space_id]

    async def wait_listening(self, seconds: float) -> bool:
        """Wait, for ``seconds`` at most, until the database connection listens for changes.

        Returns True once the connection listens, and False if it does not listen in time. After
        False, every subscription gets ``MISSED`` when the connection begins to listen. Call this
        inside ``subscribe``, which starts the connection.
        """
        try:
            async with asyncio.timeout(seconds):
                return await self._listening.wait()
        except TimeoutError:
            # The caller goes on, and a change may come before the connection listens.
            self._may_miss = True
            return False

    async def stop(self) -> None:
        """Close the database connection, if one was opened. Subscriptions get no more changes."""
        if self._task is not None:
            self._task.cancel()
            # ``wait`` does not raise the CancelledError with which the task ends.
            await asyncio.wait([self._task])

    async def _run(self) -> None:
        while True:
            try:
                await self._listen()
            except (psycopg.Error, OSError):
                # Without details: they may name the database's user.
                logger.warning("event streams: the database is away; trying again")
            self._may_miss = True
            self._listening.clear()
            await asyncio.sleep(_RETRY_SECONDS)

    async def _listen(self) -> None:
        # In a transaction, LISTEN would wait for the commit, and no notification would arrive.
        parameters = {**self._parameters, "autocommit": True}
        async with await psycopg.AsyncConnection.connect(**parameters) as connection:
            await connection.execute(f"LISTEN {CHANNEL}")
            self._listening.set()
            if self._may_miss:
                self._may_miss = False
                for subscriptions in self._subscriptions.values():
                    for subscription in subscriptions:
                        subscription.add(MISSED)
            async for notice in connection.notifies():
                change = json.loads(notice.payload)
                # ``get``: an index would add each space to the defaultdict, for ever.
                for subscription in self._subscriptions.get(change.pop("space"), ()):
                    subscription.add(change)
