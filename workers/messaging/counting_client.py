"""One counting AMQP connection in a thread of its own; ``traffic`` groups them.

proton's event loop is not to be touched from other threads, so every wish (begin to send, close)
is an event flag that the client's own timer looks at.
"""

import threading
import time
from dataclasses import dataclass
from typing import Any

import proton
from proton import handlers

from workers.messaging import tls

_TICK_SECONDS = 0.05


@dataclass(frozen=True)
class Login:
    """Where and as whom to connect. ``ca_file`` is what to trust; always TLS."""

    host: str
    port: int
    ca_file: str
    user: str
    password: str
    virtual_host: str = ""


@dataclass
class Tally:
    """What clients counted. ``connection_seconds`` is from open to close, summed."""

    accepted: int = 0
    received: int = 0
    refused: int = 0
    connections: int = 0
    connection_seconds: float = 0.0

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(
            self.accepted + other.accepted,
            self.received + other.received,
            self.refused + other.refused,
            self.connections + other.connections,
            self.connection_seconds + other.connection_seconds,
        )


class TrafficError(Exception):
    """A client was refused or did not finish; ``condition`` is the protocol's own error name."""

    def __init__(self, message: str, condition: str = "") -> None:
        super().__init__(message)
        self.condition = condition


class Client(handlers.MessagingHandler):
    """One connection that sends ``sends`` messages or receives ``credit`` of them.

    ``ready`` is set once its link is attached, ``ended`` once its connection is closed, both also
    when it failed: then ``error`` says why.
    """

    def __init__(
        self, login: Login, address: str, *, sends: int = 0, credit: int = 0, body_bytes: int = 100
    ) -> None:
        super().__init__(prefetch=0, auto_accept=True, auto_settle=True)
        self.tally = Tally()
        self.error: TrafficError | None = None
        self.ready, self.ended = threading.Event(), threading.Event()
        self._login, self._address = login, address
        self._sends, self._credit, self._sent = sends, credit, 0
        self._body = b"x" * body_bytes
        self._go, self._leave = threading.Event(), threading.Event()
        self._opened_at: float | None = None
        self._connection: Any = None
        self._sender: Any = None

    def start(self) -> None:
        """Connect and attach in the background."""
        threading.Thread(target=self._run, daemon=True).start()

    def go(self) -> None:
        """Begin to send."""
        self._go.set()

    def leave(self) -> None:
        """Ask the client to close its connection in order; ``ended`` is set once it has."""
        self._leave.set()

    def _run(self) -> None:
        try:
            tls.Container(self).run()
        except Exception as error:  # noqa: BLE001  (a thread's end: told to whoever waits)
            self._fail(f"the client stopped: {error}", "")
        finally:
            self.ready.set()
            self.ended.set()

    def on_start(self, event: Any) -> None:
        """Dial with TLS and the login, and begin to look at the flags."""
        options = {"virtual_host": self._login.virtual_host} if self._login.virtual_host else {}
        self._connection = event.container.connect(
            f"amqps://{self._login.host}:{self._login.port}",
            ssl_domain=tls.make_settings(self._login.ca_file),
            user=self._login.user,
            password=self._login.password,
            reconnect=False,
            **options,
        )
        event.container.schedule(_TICK_SECONDS, self)

    def on_timer_task(self, event: Any) -> None:
        """Do what the flags ask for and look again a little later."""
        if self._leave.is_set():
            self._connection.close()
            return
        self._pump()
        event.container.schedule(_TICK_SECONDS, self)

    def on_connection_opened(self, event: Any) -> None:
        """Attach the one link."""
        self._opened_at = time.monotonic()
        self.tally.connections += 1
        if self._sends:
            self._sender = event.container.create_sender(self._connection, self._address)
        else:
            event.container.create_receiver(self._connection, self._address)

    def on_link_opened(self, event: Any) -> None:
        """Give credit and tell that the link stands."""
        ends = event.link.remote_source if event.link.is_receiver else event.link.remote_target
        if ends.address is None:
            return  # refused: the peer attaches with no terminus and then detaches with the error
        if event.link.is_receiver:
            event.link.flow(self._credit)
        self.ready.set()

    def on_sendable(self, event: Any) -> None:
        """Send while there is credit."""
        self._pump()

    def on_accepted(self, event: Any) -> None:
        """Count what the other side took responsibility for."""
        self.tally.accepted += 1

    def on_rejected(self, event: Any) -> None:
        """Count a refusal and keep its condition."""
        self.tally.refused += 1

    def on_released(self, event: Any) -> None:
        """Count a message that nobody took (released or modified)."""
        self.tally.refused += 1

    def on_message(self, event: Any) -> None:
        """Count a message; it is accepted when this returns."""
        self.tally.received += 1

    def on_link_error(self, event: Any) -> None:
        """Keep the protocol's error and leave."""
        self._fail_with(event.link.remote_condition)
        event.connection.close()

    def on_connection_error(self, event: Any) -> None:
        """Keep the protocol's error."""
        self._fail_with(event.connection.remote_condition)

    def on_transport_error(self, event: Any) -> None:
        """Keep the error of TLS, SASL or the network and stop trying."""
        self._fail_with(event.transport.condition)
        self._mark_closed()
        event.container.stop()

    def on_connection_closed(self, event: Any) -> None:
        """End the connection's time, and the socket: both sides have said that they are done.

        A router leaves ending the socket to the client, and counts the connection until then.
        """
        self._mark_closed()
        event.transport.close_tail()

    def on_transport_closed(self, event: Any) -> None:
        """Stop: the socket is closed."""
        event.container.stop()

    def _pump(self) -> None:
        while self._go.is_set() and self._sent < self._sends and self._sender.credit:
            self._sender.send(proton.Message(body=self._body, durable=True, id=self._sent))
            self._sent += 1

    def _mark_closed(self) -> None:
        if self._opened_at is not None:
            self.tally.connection_seconds += time.monotonic() - self._opened_at
            self._opened_at = None

    def _fail_with(self, condition: Any) -> None:
        if condition is not None:
            self._fail(str(condition.description or condition.name), str(condition.name))

    def _fail(self, message: str, condition: str) -> None:
        if self.error is None:
            self.error = TrafficError(f"{self._address}: {message}", condition)
