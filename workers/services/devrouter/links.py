"""Handle links: messages reach the router by a ``Producer`` and leave it by a ``Consumer``.

The links of clients, of autoLinks and of link routes use the same two classes. They differ in the
producer's sink and the consumer's source.
"""

import itertools
from collections import Counter, deque
from collections.abc import Callable
from typing import Protocol

from proton import Delivery, Link

from workers.services.devrouter import forwarding, limits
from workers.services.devrouter.engine import Connection
from workers.services.devrouter.forwarding import Inbound, Sink

_identities = itertools.count(1)
_NAMES: dict[int, str] = {
    Delivery.ACCEPTED: "accepted",
    Delivery.REJECTED: "rejected",
    Delivery.RELEASED: "released",
    Delivery.MODIFIED: "modified",
}
# Credit is given in portions, because one flow frame for each message would double the frames.
_PORTION = 16


class Source(Protocol):
    """What sends messages to a consumer: an ``Address`` or a ``RoutedPair``.

    ``Consumer`` calls ``ready`` when its peer has changed credit or drain, and ``remove`` when its
    link ends.
    """

    def ready(self, consumer: "Consumer") -> None: ...
    def remove(self, consumer: "Consumer") -> None: ...


class RouterLink:
    """Base of both kinds of link; creating one adds it to the links of ``connection``.

    ``unsettled``: the messages that have no outcome yet, by delivery.

    AutoLinks and link routes set callbacks: ``on_confirmed`` is called when the peer has answered
    an attach of the router, ``on_gone`` when the link has ended, and ``on_flow`` when the peer has
    changed credit or drain of a producer.
    """

    def __init__(self, connection: Connection, proton: Link) -> None:
        self.identity = str(next(_identities))
        self.connection = connection
        self.proton = proton
        self.name: str = proton.name
        self.counts: Counter[str] = Counter()
        self.unsettled: dict[Delivery, Inbound] = {}
        self.address_key = ""
        self.on_confirmed: Callable[[], None] | None = None
        self.on_gone: Callable[[bool], None] | None = None
        self.on_flow: Callable[[], None] | None = None
        connection.links[proton] = self

    @property
    def is_container(self) -> bool:
        return self.connection.settings.role == "route-container"

    @property
    def credit(self) -> int:
        count: int = self.proton.credit
        return count

    def confirmed(self) -> None:
        """Handle the peer's answer to an attach that the router sent."""
        if self.on_confirmed is not None:
            self.on_confirmed()

    def flowed(self) -> None:
        """Handle a flow frame, by which the peer changes credit or drain."""
        if self.on_flow is not None:
            self.on_flow()

    def delivered(self, delivery: Delivery) -> None:
        """Handle a delivery that is new, or whose outcome or settlement the peer has changed."""
        raise NotImplementedError

    def end(self) -> None:
        """Remove the link from its sink or source, and conclude its open deliveries."""
        raise NotImplementedError


class Producer(RouterLink):
    """A link by which messages reach the router: it passes each one to ``sink``.

    It gives credit to the peer while the sink has a path.
    """

    def __init__(self, connection: Connection, proton: Link, sink: Sink) -> None:
        super().__init__(connection, proton)
        self.sink = sink
        self.gives_credit = True  # False on a routed link: ``RoutedPair`` passes credit on
        self.largest_bytes = 0  # of a message; 0 means no limit
        self._partial = bytearray()

    def delivered(self, delivery: Delivery) -> None:
        inbound = self.unsettled.get(delivery)
        if inbound is None:
            self._read()
        elif delivery.settled:
            inbound.sender_settled()

    def top_up(self) -> None:
        """Give credit so that credit and unsettled messages together equal the link's capacity."""
        if not self.gives_credit or not self.sink.has_path:
            return
        # Unsettled messages count, so that a slow consumer slows down the sender.
        missing = self.connection.settings.capacity - self.credit - len(self.unsettled)
        if missing >= _PORTION or (missing > 0 and self.credit < _PORTION):
            self.proton.flow(missing)
            self.connection.touch()

    def finish(self, inbound: Inbound) -> None:
        """Settle a message with its sender, and give credit again.

        The caller has set the outcome on the message's delivery, if the sender expects one.
        """
        self.unsettled.pop(inbound.delivery, None)
        if self.connection.is_gone:
            return
        inbound.delivery.settle()
        self.connection.touch()
        self.top_up()

    def end(self) -> None:
        self.sink.leave(self)
        for inbound in self.unsettled.values():
            inbound.settled = True  # the sender is gone, so no outcome is sent
        self.unsettled.clear()

    def _read(self) -> None:
        while (delivery := self.proton.current) is not None and delivery.readable:
            # The sender may abort a delivery that it has sent in part.
            if delivery.aborted:
                self._partial.clear()
                self.proton.advance()
                delivery.settle()
                continue
            # Large messages come in several frames; they are forwarded only when complete.
            self._partial += self.proton.recv(delivery.pending) or b""
            if 0 < self.largest_bytes < len(self._partial):
                self._partial.clear()
                self.largest_bytes = 0
                limits.refuse_message(delivery)
                self.connection.touch()
                return
            if delivery.partial:
                return
            payload = bytes(self._partial)
            self._partial.clear()
            self._take(delivery, payload)
        self.top_up()

    def _take(self, delivery: Delivery, payload: bytes) -> None:
        inbound = Inbound(self, delivery, payload, settled=delivery.settled)
        self.proton.advance()
        self.counts["deliveries"] += 1
        if inbound.settled:
            self.counts["presettled"] += 1
            delivery.settle()
        else:
            self.unsettled[delivery] = inbound
        self.sink.accept(inbound)


class Consumer(RouterLink):
    """A link by which messages leave the router, to the peer.

    Messages wait in its backlog while the peer has given no credit.
    """

    def __init__(self, connection: Connection, proton: Link, source: Source) -> None:
        super().__init__(connection, proton)
        self.source = source
        self._backlog: deque[Inbound] = deque()
        self._tags = itertools.count(1)

    @property
    def outstanding(self) -> int:
        """How many messages wait in the backlog, or are sent and not settled."""
        return len(self._backlog) + len(self.unsettled)

    def flowed(self) -> None:
        self.source.ready(self)
        self.connection.touch()

    def give_back_credit(self) -> None:
        """Complete a drain that the peer has requested: give back the credit that is not used.

        Do nothing without such a request, or while messages wait in the backlog.
        """
        if self.proton.drain_mode and not self._backlog:
            self.proton.drained()

    def send(self, inbound: Inbound) -> None:
        """Send a message now, and keep it until its outcome; the caller has checked the credit."""
        if inbound.settled:
            self.send_settled(inbound.payload)
            return
        delivery = self._transmit(inbound.payload)
        # The consumer wants settled messages: there will be no outcome, so sending is acceptance.
        if self.proton.snd_settle_mode == Link.SND_SETTLED:
            delivery.settle()
            inbound.conclude(forwarding.ACCEPTED)
        else:
            self.unsettled[delivery] = inbound

    def send_settled(self, payload: bytes) -> None:
        """Send a message and expect no outcome; the caller has checked the credit."""
        self.counts["presettled"] += 1
        self._transmit(payload).settle()

    def _transmit(self, payload: bytes) -> Delivery:
        delivery = self.proton.delivery(str(next(self._tags)))
        self.proton.stream(payload)
        self.proton.advance()
        self.counts["deliveries"] += 1
        self.connection.touch()
        return delivery

    def offer(self, inbound: Inbound) -> None:
        """Send a message now, or put it into the backlog until the peer gives credit.

        A settled message is dropped if as many messages as the link's capacity wait already.
        """
        if self.credit > 0 and not self._backlog:
            self.send(inbound)
        elif inbound.settled and len(self._backlog) >= self.connection.settings.capacity:
            self.counts["dropped"] += 1
        else:
            self._backlog.append(inbound)

    def send_backlog(self) -> None:
        while self._backlog and self.credit > 0:
            self.send(self._backlog.popleft())

    def delivered(self, delivery: Delivery) -> None:
        inbound = self.unsettled.get(delivery)
        if inbound is None:
            return
        verdict = forwarding.verdict_of(delivery)
        # Go on if the consumer has settled, or if it has set an outcome that cannot wait for the
        # sender (``propose``).
        if not delivery.settled and not (
            verdict.is_terminal and not inbound.propose(verdict, self, delivery)
        ):
            return
        self.counts[_NAMES.get(verdict.state, "settled")] += 1
        self.settle(delivery)
        inbound.conclude(verdict)

    def settle(self, delivery: Delivery) -> None:
        """Settle a delivery on this side and forget it."""
        self.unsettled.pop(delivery, None)
        delivery.settle()
        self.connection.touch()

    def end(self) -> None:
        self.source.remove(self)
        # Never sent: safe to send to another consumer. Sent: the consumer may have processed it.
        for inbound in self._backlog:
            inbound.conclude(forwarding.RELEASED)
        for inbound in list(self.unsettled.values()):
            inbound.conclude(forwarding.LOST)
        self._backlog.clear()
        self.unsettled.clear()
