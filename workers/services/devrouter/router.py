"""Hold the router's connections and address table, and decide about each attach.

``engine`` calls it with the events of connections, ``network`` with new connections, ``management``
to change entities and to send answers. Everything runs in the event loop's thread.
"""

import asyncio
import itertools
import secrets
import time
from collections import Counter

import structlog
from proton import Condition, Link, Message, Terminus, symbol

from tenants.router_patches import Patch
from workers.messaging.routers import patches
from workers.services.devrouter import anonymous, forwarding, limits, matching
from workers.services.devrouter.attaches import Attach
from workers.services.devrouter.configuration import Configuration
from workers.services.devrouter.configured import AutoLink, Configured, LinkRoute
from workers.services.devrouter.engine import Connection
from workers.services.devrouter.forwarding import Address
from workers.services.devrouter.limits import Limits
from workers.services.devrouter.links import Consumer, Producer, RouterLink
from workers.services.devrouter.routed import RoutedPair

logger = structlog.get_logger(__name__)

PRODUCT = "waypost-devrouter"
MANAGEMENT = "$management"
_TEMPORARY_QUEUE = "_$temp."  # source: Dispatch, modules/address_lookup_client
_NOT_FOUND = Condition("amqp:not-found", "Node not found")
_NO_ROUTE = Condition("qd:no-route-to-dest", "No route to the destination node")
_DENIED = Condition("amqp:unauthorized-access", "disallowed by local policy")
_NO_TRANSACTIONS = Condition(
    "amqp:precondition-failed", "The router can't coordinate transactions by itself"
)
_NO_BROWSE = Condition(
    "amqp:not-implemented", "This address can neither be browsed nor read with a filter"
)


class Router:
    """The core of one incarnation of the router, which ``boot`` identifies.

    * ``addresses``: the address table, by key (``configured.Configured.key``).
    * ``connections``: those of authenticated peers, by identity.
    * ``approved``, ``denied``: how many connections of each vhost were ever admitted or refused.
    * ``agent``: the sink of messages to ``$management``.
    """

    def __init__(self, configuration: Configuration, agent: forwarding.Sink | None = None) -> None:
        self.id = configuration.router_id
        self.mode = configuration.mode
        self.boot = int(time.time())  # whole seconds, as in Dispatch
        self.started_at = time.monotonic()
        self.max_connections = configuration.max_connections
        self.limits = configuration.limits
        self.forbidden = configuration.forbidden
        self.configured = Configured(configuration.default_distribution)
        self.addresses: dict[str, Address] = {}
        self.connections: dict[str, Connection] = {}
        self.approved: Counter[str] = Counter()  # by vhost
        self.denied: Counter[str] = Counter()
        self.agent = agent
        self._identities = itertools.count(1)
        self._dirty: set[Connection] = set()

    # Connections

    def next_identity(self) -> str:
        """Return an identity for a new connection, unique within this incarnation."""
        return str(next(self._identities))

    def schedule(self, connection: Connection) -> None:
        """Flush ``connection`` in the next iteration of the event loop."""
        # One callback flushes all connections that are marked until then.
        if not self._dirty:
            asyncio.get_running_loop().call_soon(self._flush)
        self._dirty.add(connection)

    def _flush(self) -> None:
        while self._dirty:
            connection = self._dirty.pop()
            if connection.is_gone:
                continue
            try:
                connection.flush()
            except Exception:
                # One broken connection must not prevent the flush of the others.
                logger.exception("a connection failed", connection=connection.identity)
                connection.wire.abort()

    def register(self, connection: Connection) -> None:
        """Add the connection of an authenticated peer; send the open if this router connected."""
        self.connections[connection.identity] = connection
        if connection.settings.direction == "out":
            self._open(connection)

    def opened(self, connection: Connection) -> None:
        """Handle the open frame of a peer.

        On a connection that this router made, attach the autoLinks. Otherwise answer, and close the
        connection if its vhost, its user or its host has reached the limit of connections.
        """
        if connection.settings.direction == "out":
            for link in self.configured.auto_links_of(connection.settings.name):
                self.activate(link, connection)
            return
        vhost = connection.settings.vhost
        limit = self.max_connections.get(vhost)
        # Dispatch has no other refusal of a session than this number, which the client reads.
        if sessions := self._limits(connection).sessions:
            connection.transport.channel_max = sessions - 1
        # Open first, also when over the limit: the reason follows in the close frame.
        self._open(connection)
        others = [other.client for other in self.connections.values() if other.is_in(vhost)]
        is_full = limit is not None and len(others) >= limit
        if is_full or self._limits(connection).refuses(connection.client, others):
            self.denied[vhost] += 1
            connection.proton.condition = limits.OVER_LIMIT
            connection.proton.close()
            return
        connection.is_approved = True
        self.approved[vhost] += 1

    def _limits(self, connection: Connection) -> Limits:
        return self.limits.get(connection.settings.vhost, limits.NONE)

    def current(self, vhost: str) -> int:
        """Return how many approved connections a vhost has now."""
        return sum(connection.is_in(vhost) for connection in self.connections.values())

    def _open(self, connection: Connection) -> None:
        connection.proton.properties = {"product": PRODUCT, "version": "1"}
        offered = [symbol(patches.as_capability(patch)) for patch in Patch]
        connection.proton.offered_capabilities = offered
        connection.proton.open()
        connection.touch()

    def lost(self, connection: Connection) -> None:
        """Remove a connection whose socket has closed, end its links, and deactivate autoLinks."""
        self.connections.pop(connection.identity, None)
        self._dirty.discard(connection)
        for link in list(connection.links.values()):
            self.detached(link, closed=False)
        for auto_link in self.configured.auto_links_of(connection.settings.name):
            auto_link.deactivate(connection)

    # Links

    def attached(self, connection: Connection, proton: Link) -> None:
        """Handle the attach of a peer: refuse it, or connect the link to a link route or address.

        Limits and permission are checked first. Link routes take precedence over addresses.
        """
        proton.snd_settle_mode = proton.remote_snd_settle_mode
        proton.rcv_settle_mode = proton.remote_rcv_settle_mode
        attach = Attach(proton)
        if proton.remote_target.type == Terminus.COORDINATOR:
            attach.refuse(_NO_TRANSACTIONS)
            return
        if self._limits(connection).is_reached_by(connection.links, proton):
            attach.refuse(limits.OVER_LIMIT)
            return
        name = self._name_of(attach)
        if not self._may_attach(connection, attach, name):
            attach.refuse(_DENIED)
            return
        # The address property of a dynamic node takes precedence over the name.
        named = matching.without_host(attach.address_property) or name or ""
        route = self.configured.find_route(
            "out" if proton.is_sender else "in",
            named,
            lambda connector: self._container(connector) is not None,
        )
        if route is not None:
            self._attach_routed(connection, attach, route)
        elif attach.address_property:
            attach.refuse(_NO_ROUTE)
        elif proton.is_sender and attach.browses_or_filters:
            attach.refuse(_NO_BROWSE)
        elif proton.is_sender:
            self._attach_consumer(connection, attach, name)
        else:
            self._attach_producer(connection, attach, name)

    def detached(self, link: RouterLink, *, closed: bool) -> None:
        """End a link that the peer has ended, or whose session or connection has ended.

        ``closed``: the peer has closed the link, not only detached it.
        """
        link.end()
        if link.on_gone is not None:
            link.on_gone(closed)
        self.release(link.address_key)

    def _name_of(self, attach: Attach) -> str | None:
        name = matching.without_host(attach.terminus.address or "")
        if name.removeprefix(f"_topo/0/{self.id}/") == MANAGEMENT:
            return MANAGEMENT
        return name or None

    def _may_attach(self, connection: Connection, attach: Attach, name: str | None) -> bool:
        proton = attach.proton
        if attach.capabilities & self.forbidden.get(connection.settings.vhost, frozenset()):
            return False
        if name is None and proton.is_sender and proton.remote_source.dynamic:
            return True
        if name is None:
            return not proton.is_sender  # an anonymous sender is checked with each message
        operation = "recv" if proton.is_sender else "send"
        return connection.peer.may(operation, name)

    def _attach_routed(self, connection: Connection, attach: Attach, route: LinkRoute) -> None:
        broker = self._container(route.connection)
        if broker is None:
            attach.refuse(_NO_ROUTE)
        else:
            pair = RoutedPair(connection, attach.proton, broker, route)
            pair.limit_messages(self._limits(connection).message_bytes)

    def _attach_consumer(self, connection: Connection, attach: Attach, name: str | None) -> None:
        proton = attach.proton
        # Consumers read from phase 1 of a waypoint address, producers send to phase 0.
        key = self._dynamic_key(proton) if proton.remote_source.dynamic else self._key(name, 1)
        if key is None:
            attach.refuse(_NOT_FOUND)
            return
        if not proton.remote_source.dynamic:
            proton.source.copy(proton.remote_source)
        proton.target.copy(proton.remote_target)
        proton.open()
        self.consume(connection, proton, key)

    def _attach_producer(self, connection: Connection, attach: Attach, name: str | None) -> None:
        proton = attach.proton
        if proton.remote_target.dynamic:
            name = self._make_temporary_queue()
        sink, key = self._sink(connection, name)
        if sink is None:
            attach.refuse(_NOT_FOUND)
            return
        proton.target.copy(proton.remote_target)
        if proton.remote_target.dynamic:
            proton.target.address = f"amqp:/{name}"
        proton.source.copy(proton.remote_source)
        largest = self._limits(connection).message_bytes
        proton.max_message_size = largest
        proton.open()
        producer = self.produce(connection, proton, sink)
        producer.address_key = key
        producer.largest_bytes = largest

    def _sink(self, connection: Connection, name: str | None) -> tuple[forwarding.Sink | None, str]:
        if name is None:
            return anonymous.AnonymousSink(self, connection.peer), ""
        if name == MANAGEMENT:
            return self.agent, ""
        key = self._key(name, 0)
        return (self.address(key), key) if key else (None, "")

    def consume(self, connection: Connection, proton: Link, key: str) -> Consumer:
        """Make an open link a consumer of the address ``key``; return the consumer.

        If the router's table of addresses has no row ``key``, this creates it.
        """
        address = self.address(key)
        consumer = Consumer(connection, proton, address)
        consumer.address_key = key
        address.add(consumer)
        return consumer

    def produce(self, connection: Connection, proton: Link, sink: forwarding.Sink) -> Producer:
        """Make an open link a producer for ``sink``; it gives credit if the sink has a path."""
        producer = Producer(connection, proton, sink)
        if isinstance(sink, Address):
            producer.address_key = sink.key
            sink.enter(producer)
        else:
            producer.top_up()
        return producer

    def activate(self, auto_link: AutoLink, connection: Connection) -> None:
        """Attach an autoLink on ``connection``; it joins its address once the broker accepts it."""
        proton = auto_link.attach(connection)
        address = self.address(auto_link.key)
        # A link that the broker refuses must not take messages or give credit.
        if proton.is_sender:
            consumer = Consumer(connection, proton, address)
            auto_link.follow(consumer, lambda: address.add(consumer))
        else:
            producer = Producer(connection, proton, address)
            auto_link.follow(producer, lambda: address.enter(producer))
        connection.touch()

    def add_auto_link(self, auto_link: AutoLink) -> None:
        """Add an autoLink, and attach it if there is a connection to its broker.

        Attached or not, it keeps the row of its address until ``remove_auto_link``.
        """
        self.configured.auto_links[auto_link.name] = auto_link
        self.address(auto_link.key).holds += 1
        auto_link.retry = self._retry
        self._retry(auto_link)

    def remove_auto_link(self, auto_link: AutoLink) -> None:
        """Remove an autoLink, end its link, and remove its address if nothing else uses it."""
        del self.configured.auto_links[auto_link.name]
        link = auto_link.link
        auto_link.link = None
        if link is not None and link.connection.links.pop(link.proton, None) is not None:
            link.end()
            link.proton.close()
            link.connection.touch()
        self.address(auto_link.key).holds -= 1
        self.release(auto_link.key)

    def _retry(self, auto_link: AutoLink) -> None:
        """Attach an autoLink that has no link, if its broker's connection exists."""
        # Called after a delay: the autoLink may have been deleted or attached meanwhile.
        is_there = self.configured.auto_links.get(auto_link.name) is auto_link
        connection = self._container(auto_link.connection)
        if is_there and auto_link.link is None and connection is not None:
            self.activate(auto_link, connection)

    # Addresses

    def address(self, key: str) -> Address:
        """Return the row ``key`` of the address table; create it if it is missing."""
        if key not in self.addresses:
            self.addresses[key] = Address(key, self.configured.distribution(key))
        return self.addresses[key]

    def release(self, key: str) -> None:
        """Remove the row ``key``, with its counters, if no link and no autoLink uses it."""
        address = self.addresses.get(key)
        if address is not None and address.is_idle:
            del self.addresses[key]

    def send_to(self, name: str, message: Message) -> None:
        """Send a settled message to the temporary address ``name``, as an answer of management.

        The message is lost if the receiver is gone or has given no credit.
        """
        address = self.addresses.get(f"T{matching.without_host(name)}")
        if address is not None and address.consumers and address.consumers[0].credit > 0:
            address.consumers[0].send_settled(message.encode())

    def find_known(self, name: str) -> Address | None:
        """Return the row of the address table for messages to ``name``; None if there is none now.

        For anonymous senders: unlike ``address``, it creates no row.
        """
        bare = matching.without_host(name)
        if f"T{bare}" in self.addresses:
            return self.addresses[f"T{bare}"]
        key = self._key(bare, 0)
        return self.addresses.get(key) if key else None

    def _key(self, name: str | None, phase: int) -> str | None:
        """Return the key of an address for a producer (``phase`` 0) or consumer (1).

        None if the router has no such address.
        """
        if not name:
            return None
        # Temporary queues have no rule; they exist only in the address table.
        if (temporary := f"M0{name}") in self.addresses and name.startswith(_TEMPORARY_QUEUE):
            return temporary
        return self.configured.key(name, phase)

    def _make_temporary_queue(self) -> str:
        """Create an address for a dynamic target, which lasts until its last link; return its name.

        Qpid JMS requests such an address for the replies to its messages (``auth.state``).
        """
        name = f"{_TEMPORARY_QUEUE}{secrets.token_urlsafe(12)}"
        self.addresses[f"M0{name}"] = Address(f"M0{name}", "balanced")
        return name

    def _dynamic_key(self, proton: Link) -> str:
        """Set a new temporary name as the source of ``proton``; return its key, T and the name."""
        name = f"_topo/0/{self.id}/temp.{secrets.token_urlsafe(12)}"
        proton.source.dynamic = True
        proton.source.address = f"amqp:/{name}"
        return f"T{name}"

    def _container(self, connector: str) -> Connection | None:
        """Return the connection of a connector to a broker; None if it is not connected."""
        for connection in self.connections.values():
            settings = connection.settings
            if settings.role == "route-container" and settings.name == connector:
                return connection
        return None
