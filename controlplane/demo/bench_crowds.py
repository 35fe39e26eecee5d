"""Runs many AMQP clients that log in at the same time and stay connected, for ``bench_routers``.

The clients run in several processes, because proton's event loop uses ``select``, which cannot
handle file descriptors above 1,023.
"""

import multiprocessing
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier
from typing import Any, Self

from workers.messaging import tls
from workers.messaging.counting_client import Login

_AT_MOST = 250  # clients of one process
_PATIENCE_SECONDS = 180  # for an answer of a process of clients
_LOOK_SECONDS = 0.1  # how often a process looks whether it must disconnect its clients


@dataclass(frozen=True)
class Dialing:
    """How the clients of one process connect.

    ``mechanism`` is the SASL mechanism. The process has ``clients`` clients in total, of which
    ``at_once`` log in at a time.
    """

    mechanism: str
    clients: int
    at_once: int


@dataclass(frozen=True)
class Arrival:
    """The result of the logins of many clients; a value that processes send to their parent.

    ``began`` and ``ended`` are seconds of the monotonic clock. ``opened`` is how many clients were
    let in; ``errors`` has the reason of each client that was not.
    """

    began: float
    ended: float
    opened: int
    processor_seconds: float  # CPU time of the clients themselves
    errors: Sequence[str] = ()

    @classmethod
    def together(cls, parts: Sequence[Self]) -> Self:
        """Combine the results of several processes: from the first start to the last login."""
        return cls(
            # All processes of a machine share the monotonic clock.
            min(part.began for part in parts),
            max(part.ended for part in parts),
            sum(part.opened for part in parts),
            sum(part.processor_seconds for part in parts),
            [error for part in parts for error in part.errors],
        )

    @classmethod
    def receive(cls, pipe: Connection) -> Self:
        """Wait for the result that a process of clients sends, and return it.

        Raises:
            TimeoutError: not every client of the process was answered within 180 s.
            ConnectionError: the process ended early.
        """
        if not pipe.poll(_PATIENCE_SECONDS):
            raise TimeoutError(f"not every client was answered within {_PATIENCE_SECONDS} s")
        try:
            arrived: Self = pipe.recv()
        except EOFError:
            raise ConnectionError(
                "a process of clients ended early: see its traceback above"
            ) from None
        return arrived

    @property
    def seconds(self) -> float:
        return self.ended - self.began

    def refused(self) -> str:
        """Return a remark such as ``, 3 not: <reason of the first>``; '' if all were let in."""
        return f", {len(self.errors)} not: {self.errors[0]}" if self.errors else ""


class _Crowd:
    """The clients of one process: a handler of proton's events.

    It sends an ``Arrival`` to ``parent`` once every client was let in or refused. When ``parent``
    then sends anything, it disconnects all clients.
    """

    def __init__(self, login: Login, dialing: Dialing, parent: Connection) -> None:
        self._login, self._dialing, self._parent = login, dialing, parent
        self._settings = tls.make_settings(login.ca_file)
        self._connections: list[Any] = []
        self._in: set[Any] = set()
        self._errors: list[str] = []
        self._is_complete = False
        self._began = self._processor_before = 0.0

    def on_reactor_init(self, event: Any) -> None:
        """Start the clocks of the result, and begin the logins of the first ``at_once`` clients."""
        self._began, self._processor_before = time.monotonic(), time.process_time()
        for _ in range(min(self._dialing.at_once, self._dialing.clients)):
            self._dial(event.container)

    def on_connection_remote_open(self, event: Any) -> None:
        """Count a client that was let in, and begin the login of the next one."""
        self._in.add(event.connection)
        self._go_on(event)

    def on_transport_error(self, event: Any) -> None:
        """Record the reason why a client was refused or disconnected; begin the next login."""
        self._in.discard(event.connection)
        self._errors.append(str(event.transport.condition))
        self._go_on(event)

    def on_connection_remote_close(self, event: Any) -> None:
        """Close the socket, so that the event loop does not wait until the router closes it."""
        event.transport.close_tail()

    def on_timer_task(self, event: Any) -> None:
        """Close all connections if the parent process has sent anything; else look again later."""
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
            # Reported once only: this method also runs for connections that are lost later.
            self._is_complete = True
            spent = time.process_time() - self._processor_before
            arrived = (self._began, time.monotonic(), len(self._in), spent, self._errors)
            self._parent.send(Arrival(*arrived))
            self.on_timer_task(event)


def _run(login: Login, dialing: Dialing, parent: Connection, together: Barrier) -> None:
    clients = tls.Container(_Crowd(login, dialing, parent))
    # Waits for the other processes, because an interpreter takes a varying time to start.
    together.wait(_PATIENCE_SECONDS)
    clients.run()


@contextmanager
def crowd(login: Login, mechanism: str, clients: int, *, at_once: int) -> Iterator[Arrival]:
    """Log ``clients`` clients in and yield the result; they stay connected until the block ends.

    ``at_once`` of them are logging in at any moment. Both numbers are divided among the processes
    and rounded down to whole clients for each. A refused client is no error: ``Arrival.errors`` has
    it.

    Raises:
        TimeoutError, ConnectionError: as ``Arrival.receive`` raises them.
    """
    parts = max(2, -(-clients // _AT_MOST))  # rounded up
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
            far.close()  # so that reading fails with EOFError if the process ends early
        yield Arrival.together([Arrival.receive(near) for near, _ in pipes])
        for near, _ in pipes:
            near.send("leave")
        for process in processes:
            process.join(60)
    finally:
        for process in processes:
            process.kill()
