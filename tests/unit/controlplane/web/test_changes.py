"""A stream that began before the database listened learns that it may have missed changes."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any

import psycopg
import pytest

from controlplane.web.changes import MISSED, Changes


class Connection:
    """A connection that reports nothing and stays open."""

    async def __aenter__(self) -> "Connection":
        return self

    async def __aexit__(self, *_: object) -> None:
        pass

    async def execute(self, _: str) -> None:
        pass

    async def notifies(self) -> AsyncIterator[Any]:
        await asyncio.Event().wait()
        yield None


async def first_changes(opened: asyncio.Event, *, is_late: bool) -> list[Mapping[str, Any]]:
    """Return what a stream gets first; the database answers after ``opened`` is set."""
    changes = Changes({})
    try:
        with changes.subscribe("spc_one") as subscription:
            if not is_late:
                opened.set()
            began_in_time = await changes.wait_listening(0 if is_late else 5)
            assert began_in_time is not is_late
            opened.set()
            await changes.wait_listening(5)
            subscription.add({"kind": "probe"})
            return await subscription.take()
    finally:
        await changes.stop()


@pytest.mark.parametrize(
    ("is_late", "found"), [(True, [MISSED, {"kind": "probe"}]), (False, [{"kind": "probe"}])]
)
def test_a_stream_that_begins_before_the_database_listens_reads_again(
    monkeypatch: pytest.MonkeyPatch, is_late: bool, found: list[Mapping[str, Any]]
) -> None:
    async def run() -> list[Mapping[str, Any]]:
        opened = asyncio.Event()

        async def connect(**_: Any) -> Connection:
            await opened.wait()
            return Connection()

        monkeypatch.setattr(psycopg.AsyncConnection, "connect", connect)
        return await first_changes(opened, is_late=is_late)

    assert asyncio.run(run()) == found
