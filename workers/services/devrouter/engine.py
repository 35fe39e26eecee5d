"""Run one AMQP connection: proton's engine between a ``Wire`` and the router.

``receive`` feeds bytes into proton, and proton's events go to handlers of the router and its links.
A handler may change any connection and then calls its ``touch``. The connection's output is sent in
the next iteration of the event loop.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from proton import (
    Collector,
    Delivery,
    Endpoint,
    Event,
    Link,
    Session,
    Transport,
    TransportException,
)
from proton import Connection as ProtonConnection

from workers.services.devrouter.handshake import Peer
from workers.services.devrouter.limits import Client
from workers.services.devrouter.wire import Wire

if TYPE_CHECKING:
    from workers.services.devrouter.links import RouterLink

_SESSION_BYTES = 4 << 20  # incoming window of a session


@dataclass(frozen=True)
class Settings:
    """The settings that a listener or connector gives to its connections.

    * ``role``: "normal", or "route-container" for a connection to a broker.
    * ``direction``: "out" if this router opened the connection.
    * ``name``: the connector's; empty for a listener.
    * ``vhost``: the policy of the listener; empty for a connector.
    * ``capacity``: the credit of each link.
    * ``host``: the peer, as ``<host>:<port>``.
    """

    role: str = "normal"  # normal | route-container
    direction: str = "in"
    name: str = ""  # the connector's; empty for a listener
    vhost: str = ""
    capacity: int = 250
    idle_seconds: float = 16
    max_frame_size: int = 16384
    host: str = ""


class Handler(Protocol):
    """What a connection needs of the router: handlers of its events, and ``schedule``.

    ``schedule`` makes the connection's output be sent soon (``Router`` documents each method).
    """

    def opened(self, connection: "Connection") -> None: ...
    def attached(self, connection: "Connection", link: Link) -> None: ...
    def detached(self, link: "RouterLink", *, closed: bool) -> None: ...
    def lost(self, connection: "Connection") -> None: ...
    def schedule(self, connection: "Connection") -> None: ...


@dataclass(eq=False)
class Connection:
    """The connection of an authenticated peer, with its links.

    ``identity`` is unique within the router's incarnation. ``is_approved``: the peer connected to a
    listener and has opened AMQP, and the limits of the vhost admit it. ``is_gone``: the socket has
    closed; ``on_lost`` is called then.
    """

    identity: str
    wire: Wire
    peer: Peer
    settings: Settings
    router: Handler
    container: str  # the container id that this router announces
    links: dict[Link, "RouterLink"] = field(default_factory=dict)
    opened_at: float = field(default_factory=time.monotonic)
    last_delivery_at: float | None = None
    on_lost: Callable[[], None] | None = None
    is_approved: bool = False
    is_gone: bool = False

    def __post_init__(self) -> None:
        is_server = self.settings.direction == "in"
        self.transport = Transport(Transport.SERVER if is_server else Transport.CLIENT)
        self.transport.idle_timeout = self.settings.idle_seconds
        self.transport.max_frame_size = self.settings.max_frame_size
        self.proton = ProtonConnection()
        self.proton.container = self.container
        self._session: Session | None = None
        self._collector = Collector()
        self.proton.collect(self._collector)
        self.transport.bind(self.proton)

    def own_session(self) -> Session:
        """Return the session for the router's own links; open it on the first call."""
        if self._session is None:
            self._session = self.proton.session()
            self._session.incoming_capacity = _SESSION_BYTES
            self._session.open()
        return self._session

    @property
    def client(self) -> Client:
        return Client(self.peer.user, self.settings.host.rpartition(":")[0])

    def is_in(self, vhost: str) -> bool:
        """Return whether the connection counts against the limits of ``vhost``."""
        return self.is_approved and self.settings.vhost == vhost

    @property
    def remote_container(self) -> str:
        return self.proton.remote_container or ""

    @property
    def remote_properties(self) -> dict[str, str | int | bool]:
        """Return what the peer says about itself, such as ``product``; scalars only."""
        sent = self.proton.remote_properties or {}
        return {str(k): v for k, v in sent.items() if isinstance(v, str | int | bool)}

    def touch(self) -> None:
        """Schedule a flush. Call it after every change that makes output for this connection."""
        self.router.schedule(self)

    def receive(self, received: bytes) -> None:
        """Feed received bytes to proton, handle the resulting events, and schedule a flush."""
        rest = received
        # Handling events may end the connection, so check in each iteration.
        while rest and not self.is_gone:
            capacity = self.transport.capacity()
            if capacity <= 0:
                break
            try:
                self.transport.push(rest[:capacity])
            except TransportException:
                break  # proton also emits an event with the error
            rest = rest[capacity:]
            self._handle_events()
        self.touch()

    def flush(self) -> None:
        """Handle proton's events and send proton's output, as long as the socket takes it.

        Close the socket once proton has closed its output.
        """
        self._handle_events()
        while not self.wire.is_paused:
            size = self.transport.pending()
            if size < 0:  # the engine has closed its output
                self.wire.close()
                return
            if size == 0:
                return
            self.wire.write(bytes(self.transport.peek(size) or b""))
            self.transport.pop(size)
            self._handle_events()

    def tick(self, now: float) -> None:
        """Let proton send a heartbeat if due, or close the connection of a silent peer.

        ``now`` is a time of the monotonic clock, in seconds. What arrived before it has been read.
        """
        self.transport.tick(now)
        self.touch()

    def writable(self) -> None:
        self.touch()

    def lost(self) -> None:
        """End everything on this connection, because the socket has closed. Idempotent."""
        if self.is_gone:
            return
        self.is_gone = True
        self.router.lost(self)
        # Free proton's objects explicitly, after the router has ended its links.
        self.links.clear()
        self._collector.release()
        self.transport.unbind()
        self.proton.free()
        if self.on_lost is not None:
            self.on_lost()

    def _handle_events(self) -> None:
        event = self._collector.peek()
        while event is not None:
            handle = _HANDLERS.get(event.type)
            if handle is not None:
                handle(self, event.context)
            self._collector.pop()
            event = self._collector.peek()

    def _on_open(self, _: Any) -> None:
        self.router.opened(self)

    def _on_session(self, session: Session) -> None:
        session.incoming_capacity = _SESSION_BYTES
        # Not yet open on our side: the peer began the session, so answer it.
        if session.state & Endpoint.LOCAL_UNINIT:
            session.open()

    def _on_link_open(self, proton_link: Link) -> None:
        link = self.links.get(proton_link)
        # A known link is one that the router opened: the event is the peer's answer.
        if link is None:
            self.router.attached(self, proton_link)
        else:
            link.confirmed()

    def _on_flow(self, proton_link: Link) -> None:
        link = self.links.get(proton_link)
        if link is not None:
            link.flowed()

    def _on_delivery(self, delivery: Delivery) -> None:
        link = self.links.get(delivery.link)
        if link is not None:
            self.last_delivery_at = time.monotonic()
            link.delivered(delivery)

    def _on_link_close(self, proton_link: Link) -> None:
        self._end_link(proton_link, closed=True)

    def _on_link_detach(self, proton_link: Link) -> None:
        self._end_link(proton_link, closed=False)

    def _end_link(self, proton_link: Link, *, closed: bool) -> None:
        link = self.links.pop(proton_link, None)
        if link is not None:
            self.router.detached(link, closed=closed)
        if proton_link.state & Endpoint.LOCAL_ACTIVE:
            proton_link.close() if closed else proton_link.detach()

    def _on_session_close(self, session: Session) -> None:
        for proton_link in [link for link in self.links if link.session == session]:
            self.router.detached(self.links.pop(proton_link), closed=False)
        session.close()

    def _on_close(self, _: Any) -> None:
        self.proton.close()


# Event of Proton -> method.
_HANDLERS: dict[object, Callable[[Connection, Any], None]] = {
    Event.CONNECTION_REMOTE_OPEN: Connection._on_open,
    Event.SESSION_REMOTE_OPEN: Connection._on_session,
    Event.LINK_REMOTE_OPEN: Connection._on_link_open,
    Event.LINK_FLOW: Connection._on_flow,
    Event.DELIVERY: Connection._on_delivery,
    Event.LINK_REMOTE_CLOSE: Connection._on_link_close,
    Event.LINK_REMOTE_DETACH: Connection._on_link_detach,
    Event.SESSION_REMOTE_CLOSE: Connection._on_session_close,
    Event.CONNECTION_REMOTE_CLOSE: Connection._on_close,
}
