"""Join a client's link with a second link on the broker's connection, the *twin* (link routes).

The router passes on attach, credit, drain, deliveries, outcomes and detach. So the broker serves
the client's link as if the client were connected to the broker, and durable subscriptions by link
name work. The twin's name is ``<link>@<container>``, as in Dispatch. Each twin has a session of its
own, so that names cannot collide.
"""

from typing import TYPE_CHECKING

from proton import Condition, Endpoint, Link

from workers.services.devrouter.engine import Connection
from workers.services.devrouter.forwarding import Inbound
from workers.services.devrouter.links import Consumer, Producer, RouterLink

if TYPE_CHECKING:
    from workers.services.devrouter.configured import LinkRoute

_LOST = Condition("qd:routed-link-lost", "Connectivity to the peer container was lost")


class RoutedPair:
    """Joins the link ``client`` and its twin: one is a ``Producer``, the other a ``Consumer``.

    Creating the pair attaches the twin on the connection ``broker``. The pair is the sink of the
    producer and the source of the consumer. The router answers the client's attach after the broker
    has answered the twin's.
    """

    has_path = False  # the producer gives no credit of its own, only that of the consumer

    def __init__(
        self, connection: Connection, client: Link, broker: Connection, route: "LinkRoute"
    ) -> None:
        self._session = broker.proton.session()
        self._session.incoming_capacity = 4 << 20  # bytes, as in ``engine``
        self._session.open()
        name = f"{client.name}@{connection.remote_container}"
        # proton's ``is_sender`` is the router's view: the router sends to a client that receives.
        twin = self._session.receiver(name) if client.is_sender else self._session.sender(name)
        twin.source.copy(client.remote_source)
        twin.target.copy(client.remote_target)
        twin.snd_settle_mode = client.remote_snd_settle_mode
        twin.rcv_settle_mode = client.remote_rcv_settle_mode
        twin.max_message_size = client.remote_max_message_size
        twin.properties = client.remote_properties
        requested = client.remote_source if client.is_sender else client.remote_target
        mirrored = twin.source if client.is_sender else twin.target
        mirrored.address = route.external_name(requested.address)
        twin.open()
        self._client = self._half(connection, client)
        self._client.address_key = route.key
        self._broker = self._half(broker, twin)
        self._broker.on_confirmed = self._answered
        self._client.on_gone = self._client_gone
        self._broker.on_gone = self._broker_gone
        broker.touch()

    def _half(self, connection: Connection, proton: Link) -> RouterLink:
        if proton.is_sender:
            self._consumer = Consumer(connection, proton, self)
            return self._consumer
        self._producer = Producer(connection, proton, self)
        self._producer.gives_credit = False
        return self._producer

    def limit_messages(self, largest_bytes: int) -> None:
        """Refuse messages of the client larger than ``largest_bytes``; 0 means no limit."""
        if self._producer is self._client:
            self._producer.largest_bytes = largest_bytes

    def accept(self, inbound: Inbound) -> None:
        self._consumer.send(inbound)

    def leave(self, producer: Producer) -> None:
        """Do nothing: ``on_gone`` ends the other link."""

    def ready(self, consumer: Consumer) -> None:
        """Pass the consumer's credit on to the producer, and a drain if the client requests it."""
        producer = self._producer
        # Pass on only the increase: credit that the producer already gave is still valid.
        more = consumer.credit - producer.credit
        if consumer.proton.drain_mode and consumer is self._client:
            producer.on_flow = self._drained
            producer.proton.drain(max(more, 0))
        elif more > 0:
            producer.proton.flow(more)
        producer.connection.touch()

    def _drained(self) -> None:
        """Complete the client's drain once the broker has completed its own."""
        if not self._producer.proton.draining():
            self._producer.on_flow = None
            self._consumer.give_back_credit()
            self._consumer.connection.touch()

    def remove(self, consumer: Consumer) -> None:
        """Do nothing: ``on_gone`` ends the other link."""

    def _answered(self) -> None:
        client, twin = self._client.proton, self._broker.proton
        client.source.copy(twin.remote_source)
        client.target.copy(twin.remote_target)
        client.open()
        self._client.connection.touch()

    def _client_gone(self, closed: bool) -> None:
        """End the twin as the client ended its link.

        A close ends a durable subscription, a detach keeps it. A lost connection of the client
        counts as a detach.
        """
        twin, connection = self._broker.proton, self._broker.connection
        if connection.links.pop(twin, None) is None or connection.is_gone:
            return
        self._broker.end()
        twin.close() if closed else twin.detach()
        self._session.close()
        connection.touch()

    def _broker_gone(self, closed: bool) -> None:
        """End the client's link as the broker ended the twin; close it if the broker is gone."""
        client, connection = self._client.proton, self._client.connection
        if connection.links.pop(client, None) is None or connection.is_gone:
            return
        self._client.end()
        is_lost = self._broker.connection.is_gone
        client.condition = _LOST if is_lost else self._broker.proton.remote_condition
        # A client whose attach has no answer yet must get one before the detach.
        if client.state & Endpoint.LOCAL_UNINIT:
            client.open()
        client.close() if closed or is_lost else client.detach()
        if not is_lost:
            self._session.close()
        connection.touch()
