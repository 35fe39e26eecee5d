"""Listen and connect: turn sockets into the router's connections.

``__main__`` opens the listeners, and ``management.entities`` creates the connectors.
"""

import asyncio
import os
import ssl
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

import structlog

from workers.services.amqp_frames import Malformed
from workers.services.devrouter import handshake
from workers.services.devrouter.configuration import ListenerSpec
from workers.services.devrouter.engine import Connection, Settings
from workers.services.devrouter.handshake import NotAuthenticated, Peer
from workers.services.devrouter.router import Router
from workers.services.devrouter.tls import Profile
from workers.services.devrouter.wire import Wire

logger = structlog.get_logger(__name__)

HANDSHAKE_SECONDS = 30.0  # in which TLS must be agreed
RECONNECT_SECONDS = 1.0  # before it connects to a lost peer again
TICK_SECONDS = 1.0
# Many clients close the socket without TLS's close_notify. asyncio would wait 30 s for it, and the
# connection would be listed and metered until then.
GOODBYE_SECONDS = 0.5


class Network:
    """Holds the listeners of a router, and makes connections from their sockets.

    Connectors make theirs by ``join`` too. Run ``tick`` as a task, and call ``close`` at the end.
    """

    def __init__(self, router: Router, clock: Callable[[], float] = time.monotonic) -> None:
        self._router = router
        self._clock = clock
        self._servers: list[tuple[asyncio.Server, Profile, ssl.SSLContext]] = []
        self._tasks: set[asyncio.Task[None]] = set()

    async def listen(self, spec: ListenerSpec) -> None:
        """Open a listener; return once it accepts connections.

        Raises:
            OSError: the port is taken, or a file of the certificate cannot be read.
        """
        context = spec.profile.server(needs_client=spec.auth is None)
        spec.profile.is_stale()  # remembers the files' times, so that later changes are found
        server = await asyncio.get_running_loop().create_server(
            # A wire for each connection; it starts its handshake as a task of its own.
            lambda: Wire(lambda wire: self._start(self._welcome(wire, spec))),
            spec.host,
            spec.port,
            ssl=context,
            ssl_handshake_timeout=HANDSHAKE_SECONDS,
            ssl_shutdown_timeout=GOODBYE_SECONDS,
        )
        self._servers.append((server, spec.profile, context))
        logger.info("listening", listener=spec.name, host=spec.host, port=spec.port)

    def _start(self, job: Coroutine[Any, Any, None]) -> None:
        # asyncio keeps only weak references to tasks: without the set they could be collected.
        task = asyncio.get_running_loop().create_task(job)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _welcome(self, wire: Wire, spec: ListenerSpec) -> None:
        """Authenticate a new peer and create its connection; close the socket if that fails."""
        try:
            async with asyncio.timeout(HANDSHAKE_SECONDS):
                if spec.auth is not None:
                    peer = await handshake.relay(wire, spec.auth)
                else:
                    peer = await handshake.accept_external(wire)
        except (NotAuthenticated, Malformed, EOFError, OSError, TimeoutError) as error:
            logger.info("a login failed", listener=spec.name, reason=str(error))
            wire.close()
            return
        host, port = wire.extra("peername")[:2]
        settings = Settings(
            role=spec.role,
            vhost=spec.vhost,
            capacity=spec.capacity,
            idle_seconds=spec.idle_seconds,
            max_frame_size=spec.max_frame_size,
            host=f"{host}:{port}",
        )
        self.join(wire, peer, settings)

    def join(self, wire: Wire, peer: Peer, settings: Settings) -> Connection:
        """Create the connection of an authenticated peer, and pass the bytes of ``wire`` to it.

        The caller has authenticated ``peer`` (``handshake``).
        """
        connection = Connection(
            self._router.next_identity(), wire, peer, settings, self._router, self._router.id
        )
        self._router.register(connection)
        wire.hand_over(connection)
        return connection

    async def tick(self) -> None:
        """Handle heartbeats, idle timeouts and replaced certificates every second; never return."""
        while True:
            await asyncio.sleep(TICK_SECONDS)
            await self.end_silent_connections()
            self._reload_certificates()

    async def end_silent_connections(self) -> None:
        """Close connections whose peers were silent for too long; send heartbeats that are due.

        On a busy machine, a peer's heartbeat may wait in its socket for long. So everything that
        arrived until now is read before a peer counts as silent.
        """
        now = self._clock()
        # The event loop looks for arrived bytes after the first turn, and reads them before the
        # end of the second.
        for _ in range(2):
            await asyncio.sleep(0)
        for connection in list(self._router.connections.values()):
            connection.tick(now)

    def _reload_certificates(self) -> None:
        # Listeners may share a profile, and ``is_stale`` is true only once for each change.
        stale = {profile.name for _, profile, _ in self._servers if profile.is_stale()}
        for _, profile, context in self._servers:
            if profile.name not in stale:
                continue
            try:
                profile.reload(context)
                logger.info("a certificate was replaced", profile=profile.name)
            except (OSError, ssl.SSLError) as error:
                logger.error("a replaced certificate cannot be loaded", error=str(error))

    async def close(self) -> None:
        """Stop listening and close every connection cleanly."""
        for server, _, _ in self._servers:
            server.close()
        for connection in list(self._router.connections.values()):
            connection.proton.close()
            connection.flush()
            connection.wire.close()
        await asyncio.sleep(0.05)  # lets the event loop send what is buffered


@dataclass(frozen=True)
class ConnectorSpec:
    """The settings of a connector; ``profile`` has the certificates for TLS."""

    name: str
    host: str
    port: int
    role: str
    profile: Profile
    verifies_name: bool = True
    capacity: int = 250
    idle_seconds: float = 16
    max_frame_size: int = 16384


class Connector:
    """Keeps one connection to a broker open: after ``start`` it reconnects until ``stop``.

    Management shows ``status`` (CONNECTING, SUCCESS or FAILED) and ``message``.
    """

    def __init__(self, spec: ConnectorSpec, network: Network) -> None:
        self.spec = spec
        self.status = "CONNECTING"
        self.message = ""
        self._network = network
        self._task: asyncio.Task[None] | None = None
        self._connection: Connection | None = None

    def start(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._keep())

    def stop(self) -> None:
        """Close the connection and do not reconnect."""
        if self._task is not None:
            self._task.cancel()
        if self._connection is not None and not self._connection.is_gone:
            self._connection.proton.close()
            self._connection.touch()

    async def _keep(self) -> None:
        while True:
            try:
                self._connection = await self._connect()
                self.status, self.message = "SUCCESS", ""
                await self._until_lost(self._connection)
                self.status, self.message = "CONNECTING", "the connection was lost"
            except (NotAuthenticated, Malformed, EOFError, OSError, TimeoutError) as error:
                # As in Dispatch, an error of the system is shown by the system's text.
                number = error.errno if isinstance(error, OSError) else None
                text = os.strerror(number) if number else str(error) or type(error).__name__
                self.status, self.message = "FAILED", text
            await asyncio.sleep(RECONNECT_SECONDS)

    async def _connect(self) -> Connection:
        spec = self.spec
        async with asyncio.timeout(HANDSHAKE_SECONDS):
            _, wire = await asyncio.get_running_loop().create_connection(
                Wire,
                spec.host,
                spec.port,
                ssl=spec.profile.client(verifies_name=spec.verifies_name),
                ssl_shutdown_timeout=GOODBYE_SECONDS,
                server_hostname=spec.host,
            )
            try:
                peer = await handshake.connect_external(wire, spec.host)
            except BaseException:  # also a timeout, which cancels this task
                wire.abort()
                raise
        settings = Settings(
            role=spec.role,
            direction="out",
            name=spec.name,
            capacity=spec.capacity,
            idle_seconds=spec.idle_seconds,
            max_frame_size=spec.max_frame_size,
            host=f"{spec.host}:{spec.port}",
        )
        return self._network.join(wire, peer, settings)

    async def _until_lost(self, connection: Connection) -> None:
        lost = asyncio.Event()
        # The connection may have ended before ``on_lost`` was set.
        connection.on_lost = lost.set
        if not connection.is_gone:
            await lost.wait()
