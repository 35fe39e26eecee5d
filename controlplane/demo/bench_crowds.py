"""Many clients at once: logins in one moment, and connections that stay; used by ``bench_routers``.

The clients are in processes of their own: proton's event loop cannot hold a socket above the
kernel's 1,024th of one process (``select``).
"""

import multiprocessing
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier
from typing import Any

from workers.messaging import tls
from workers.messaging.traffic import Login

_AT_MOST = 250  # clients of one process
_PATIENCE_SECONDS = 180
_LOOK_SECONDS = 0.1


@dataclass(frozen=True)
class Dialing:
    """How a crowd connects: ``clients`` of them, ``at_once`` not yet let in at any moment."""

    mechanism: str
    clients: int
    at_once: int


@dataclass(frozen=True)
class Arrival:
    """How that went; the instants are of the machine's monotonic clock."""

    began: float
    ended: float
    opened: int
    processor_seconds: float  # what the clients took themselves
    errors: Sequence[str] = ()

    @property
    def seconds(self) -> float:
        return self.ended - self.began


class _Crowd:
    """The connections of one process; proton calls it with its events."""

    def __init__(self, login: Login, dialing: Dialing, parent: Connection) -> None:
        self._login, self._dialing, self._parent = login, dialing, parent
        self._settings = tls.make_settings(login.ca_file)
        self._connections: list[Any] = []
        self._in: set[Any] = set()
        self._errors: list[str] = []
        self._is_complete = False
        self._began = self._processor_before = 0.0

    def on_reactor_init(self, event: Any) -> None:
        """Dial with the first ones."""
        self._began, self._processor_before = time.monotonic(), time.process_time()
        for _ in range(min(self._dialing.at_once, self._dialing.clients)):
            self._dial(event.container)

    def on_connection_remote_open(self, event: Any) -> None:
        """Count one that was let in, and dial with another."""
        self._in.add(event.connection)
        self._go_on(event)

    def on_transport_error(self, event: Any) -> None:
        """Keep why one was not let in, or was thrown out."""
        self._in.discard(event.connection)
        self._errors.append(str(event.transport.condition))
        self._go_on(event)

    def on_connection_remote_close(self, event: Any) -> None:
        """End the socket, so that nothing waits for the router to do it."""
        event.transport.close_tail()

    def on_timer_task(self, event: Any) -> None:
        """Leave once everything was measured; until then the connections are kept alive."""
        if not self._parent.poll():
            event.container.schedule(_LOOK_SECONDS, self)
            return
        for connection in self._connections:
            connection.close()

    def _dial(self, container: Any) -> None:
        self._connections.append(
            container.connect(
                f"amqps://{self._login.host}:{self._login.port}",
                ssl_domain=self._settings,
                user=self._login.user,
                password=self._login.password,
                allowed_mechs=self._dialing.mechanism,
                reconnect=False,
            )
        )

    def _go_on(self, event: Any) -> None:
        if len(self._connections) < self._dialing.clients:
            self._dial(event.container)
        elif not self._is_complete and len(self._in) + len(self._errors) == len(self._connections):
            self._is_complete = True
            spent = time.process_time() - self._processor_before
            arrived = (self._began, time.monotonic(), len(self._in), spent, self._errors)
            self._parent.send(Arrival(*arrived))
            self.on_timer_task(event)


def _run(login: Login, dialing: Dialing, parent: Connection, together: Barrier) -> None:
    everybody = tls.Container(_Crowd(login, dialing, parent))
    together.wait(_PATIENCE_SECONDS)
    everybody.run()


@contextmanager
def crowd(login: Login, mechanism: str, clients: int, *, at_once: int) -> Iterator[Arrival]:
    """Yield how the clients arrived; who was let in stays connected inside the block."""
    parts = max(2, -(-clients // _AT_MOST))
    dialing = Dialing(mechanism, clients // parts, at_once // parts)
    context = multiprocessing.get_context("spawn")
    pipes = [context.Pipe() for _ in range(parts)]
    together = context.Barrier(parts)
    processes = [
        context.Process(target=_run, args=(login, dialing, far, together)) for _, far in pipes
    ]
    try:
        for process, (_, far) in zip(processes, pipes, strict=True):
            process.start()
            far.close()  # so that we notice when the process ends without a word
        yield _sum([_receive(near) for near, _ in pipes])
        for near, _ in pipes:
            near.send("leave")
        for process in processes:
            process.join(60)
    finally:
        for process in processes:
            process.kill()


def _receive(pipe: Connection) -> Arrival:
    if not pipe.poll(_PATIENCE_SECONDS):
        raise TimeoutError("a crowd of clients did not get an answer each")
    try:
        arrived: Arrival = pipe.recv()
    except EOFError:
        raise ConnectionError("a process of clients ended by itself: see above") from None
    return arrived


def _sum(arrivals: Sequence[Arrival]) -> Arrival:
    return Arrival(
        min(each.began for each in arrivals),
        max(each.ended for each in arrivals),
        sum(each.opened for each in arrivals),
        sum(each.processor_seconds for each in arrivals),
        [error for each in arrivals for error in each.errors],
    )
