"""Run an AMQP client, in a thread of its own, that counts its messages and connections.

``traffic`` groups such clients. Other threads must not call into proton's event loop. So each
request to a client (begin to send, close) sets a flag, which the client's own timer reads.
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
    """Says where and as which user a client connects.

    The connection always uses TLS, trusts ``ca_file`` and checks the peer's name.
    ``virtual_host``: the host name of the AMQP open, if it is not ``host``.
    """

    host: str
    port: int
    ca_file: str
    user: str
    password: str
    virtual_host: str = ""


@dataclass
class Tally:
    """What one client counted, or several: ``+`` adds two tallies field by field.

    * ``accepted``, ``refused``: sent messages by outcome; ``refused`` are all others than accepted.
    * ``received``: messages that receivers took.
    * ``connections``: connections whose AMQP open the peer answered.
    * ``connection_seconds``: the time from open to close, added up over closed connections.
    """

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
    """A client was refused, lost its connection, or did not finish in time.

    ``condition`` is the AMQP error name, such as ``amqp:unauthorized-access``; empty without one.
    """

    def __init__(self, message: str, condition: str = "") -> None:
        super().__init__(message)
        self.condition = condition


class Client(handlers.MessagingHandler):
    """An AMQP client with one link: it sends ``sends`` messages, or receives up to ``credit``.

    It is a receiver if ``sends`` is 0. Call ``start``, for a sender then ``go``, and ``leave`` at
    the end. ``ready`` is set when the link is attached, ``ended`` when the connection is closed.
    After a failure both are set, and ``error`` has the reason.
    """

    def __init__(
        self, login: Login, address: str, *, sends: int = 0, credit: int = 0, body_bytes: int = 100
    ) -> None:
        # No prefetch: ``on_link_opened`` gives exactly ``credit``.
        super().__init__(prefetch=0, auto_accept=True, auto_settle=True)
        self.tally = Tally()
        self.error: TrafficError | None = None
        self.ready, self.ended = threading.Event(), threading.Event()
        self._login, self._address = login, address
        self._sends, self._credit, self._sent = sends, credit, 0
        self._body = b"x" * body_bytes
        # Flags set by other threads, read by ``on_timer_task``.
        self._go, self._leave = threading.Event(), threading.Event()
        self._opened_at: float | None = None
        self._connection: Any = None
        self._sender: Any = None

    def start(self) -> None:
        """Start the thread that connects and attaches the link; return at once."""
        threading.Thread(target=self._run, daemon=True).start()

    def go(self) -> None:
        """Let the client send its messages as soon as it has credit; return at once."""
        self._go.set()

    def leave(self) -> None:
        """Make the client close its connection cleanly; return at once. ``ended`` follows."""
        self._leave.set()

    def _run(self) -> None:
        try:
            tls.Container(self).run()
        except Exception as error:  # noqa: BLE001  (the end of a thread: waiters read ``error``)
            self._fail(f"the client stopped: {error}", "")
        finally:
            self.ready.set()
            self.ended.set()

    def on_start(self, event: Any) -> None:
        """Connect with TLS and the login, and start the timer that reads the flags."""
        options = {"virtual_host": self._login.virtual_host} if self._login.virtual_host else {}
        self._connection = event.container.connect(
            f"amqps://{self._login.host}:{self._login.port}",
            ssl_domain=tls.make_settings(self._login.ca_file),
            user=self._login.user,
            password=self._login.password,
            # Reconnecting would hide a refusal and count a second connection.
            reconnect=False,
            **options,
        )
        event.container.schedule(_TICK_SECONDS, self)

    def on_timer_task(self, event: Any) -> None:
        """Close the connection after ``leave``, or send after ``go``; restart the timer if open."""
        if self._leave.is_set():
            self._connection.close()
            return
        self._pump()
        event.container.schedule(_TICK_SECONDS, self)

    def on_connection_opened(self, event: Any) -> None:
        """Attach the client's only link."""
        self._opened_at = time.monotonic()
        self.tally.connections += 1
        if self._sends:
            self._sender = event.container.create_sender(self._connection, self._address)
        else:
            event.container.create_receiver(self._connection, self._address)

    def on_link_opened(self, event: Any) -> None:
        """Set ``ready`` unless the link is refused; a receiver also gives credit."""
        terminus = event.link.remote_source if event.link.is_receiver else event.link.remote_target
        if terminus.address is None:
            # A refused link: the peer attaches without a terminus, then detaches with the error
            # (AMQP part 2 section 2.6.3).
            return
        if event.link.is_receiver:
            event.link.flow(self._credit)
        self.ready.set()

    def on_sendable(self, event: Any) -> None:
        """Send while there is credit, once ``go`` was called."""
        self._pump()

    def on_accepted(self, event: Any) -> None:
        """Count a sent message that the peer accepted."""
        self.tally.accepted += 1

    def on_rejected(self, event: Any) -> None:
        """Count a sent message that the peer rejected, as refused."""
        self.tally.refused += 1

    def on_released(self, event: Any) -> None:
        """Count a sent message with the outcome released or modified, as refused."""
        self.tally.refused += 1

    def on_message(self, event: Any) -> None:
        """Count a received message; proton accepts it when this returns (``auto_accept``)."""
        self.tally.received += 1

    def on_link_error(self, event: Any) -> None:
        """Store the peer's error of the refused or detached link, and close the connection."""
        self._fail_with(event.link.remote_condition)
        event.connection.close()

    def on_connection_error(self, event: Any) -> None:
        """Store the error with which the peer closed the connection."""
        self._fail_with(event.connection.remote_condition)

    def on_transport_error(self, event: Any) -> None:
        """Store the error of TLS, SASL or the network, and end the event loop."""
        self._fail_with(event.transport.condition)
        self._mark_closed()
        event.container.stop()

    def on_connection_closed(self, event: Any) -> None:
        """Count how long the connection was open, and close the socket: both sides have closed.

        A router waits for the client to close the socket and counts the connection until then.
        """
        self._mark_closed()
        event.transport.close_tail()

    def on_transport_closed(self, event: Any) -> None:
        """End the event loop: the socket is closed."""
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
        if self.error is None:  # the first error is the cause, later ones follow from it
            self.error = TrafficError(f"{self._address}: {message}", condition)
