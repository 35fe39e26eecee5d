"""The development router closes the connections of silent peers, and of no others."""

import asyncio
import socket
from collections.abc import Awaitable, Callable

from workers.services import amqp_frames as frames
from workers.services.amqp_frames import Code
from workers.services.devrouter.configuration import Configuration
from workers.services.devrouter.engine import Connection, Settings
from workers.services.devrouter.handshake import Peer
from workers.services.devrouter.network import Network
from workers.services.devrouter.router import Router
from workers.services.devrouter.wire import Wire

HEARTBEAT = b"\x00\x00\x00\x08\x02\x00\x00\x00"
OPENED = frames.AMQP_HEADER + frames.encode(Code.OPEN, ["peer", None, None, None, None])
IDLE_SECONDS = 16


class Clock:
    """A monotonic clock that the test sets; seconds. proton takes 0 for no time at all."""

    def __init__(self) -> None:
        self.now = 1.0

    def __call__(self) -> float:
        return self.now


def with_an_open_connection(
    play: Callable[[Network, Clock, socket.socket, Connection], Awaitable[None]],
) -> None:
    """Run ``play`` with a connection whose peer is the socket, after the router's first look."""

    async def run() -> None:
        clock, router = Clock(), Router(Configuration("router-0"))
        network = Network(router, clock)
        ours, peer = socket.socketpair()
        with peer:
            loop = asyncio.get_running_loop()
            _, wire = await loop.create_unix_connection(Wire, sock=ours)
            settings = Settings(role="route-container", idle_seconds=IDLE_SECONDS)
            connection = network.join(wire, Peer("broker", "EXTERNAL"), settings)
            peer.sendall(OPENED)
            while connection.proton.remote_container is None:
                await asyncio.sleep(0)
            await network.end_silent_connections()
            await play(network, clock, peer, connection)

    asyncio.run(run())


def test_a_heartbeat_that_was_not_read_yet_counts() -> None:
    async def play(
        network: Network, clock: Clock, peer: socket.socket, connection: Connection
    ) -> None:
        clock.now += IDLE_SECONDS - 1
        peer.sendall(HEARTBEAT)
        clock.now += 2  # the router was busy in the meantime
        await network.end_silent_connections()

        assert connection.proton.transport is not None
        assert connection.transport.condition is None

    with_an_open_connection(play)


def test_a_silent_connection_is_closed() -> None:
    async def play(
        network: Network, clock: Clock, peer: socket.socket, connection: Connection
    ) -> None:
        clock.now += IDLE_SECONDS + 1
        await network.end_silent_connections()

        assert connection.transport.condition is not None
        assert connection.transport.condition.name == "amqp:resource-limit-exceeded"

    with_an_open_connection(play)
