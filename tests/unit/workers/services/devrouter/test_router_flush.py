"""The development router's turn: every connection that has something to say gets to say it."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

from workers.services.devrouter.configuration import Configuration
from workers.services.devrouter.router import Router


@dataclass(eq=False)
class FakeConnection:
    """A connection that may break when it is flushed."""

    identity: str
    is_broken: bool = False
    is_gone: bool = False
    flushed: int = 0
    aborted: int = 0
    wire: Any = field(init=False)

    def __post_init__(self) -> None:
        self.wire = self

    def flush(self) -> None:
        self.flushed += 1
        if self.is_broken:
            raise ValueError("broken")

    def abort(self) -> None:
        self.aborted += 1


def test_a_broken_connection_is_aborted_and_the_others_go_on() -> None:
    router = Router(Configuration("router-0"))
    connections: list[Any] = [FakeConnection(str(n), is_broken=n % 2 == 0) for n in range(4)]

    async def take_two_turns() -> None:
        for _ in range(2):
            for connection in connections:
                router.schedule(connection)
            await asyncio.sleep(0)

    asyncio.run(take_two_turns())

    assert [connection.flushed for connection in connections] == [2, 2, 2, 2]
    assert [connection.aborted for connection in connections] == [2, 0, 2, 0]
