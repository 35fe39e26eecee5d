"""The two kinds of link: a ``Producer`` brings messages to the router, a ``Consumer`` takes them.

Clients, autoLinks and routed links are all made of these; what differs is the producer's sink and
the consumer's source.
"""

import itertools
from collections import Counter, deque
from collections.abc import Callable
from typing import Protocol

from proton import Delivery, Link

from workers.services.devrouter import forwarding
from workers.services.devrouter.engine import Connection
from workers.services.devrouter.forwarding import Inbound, Sink

_identities = itertools.count(1)
_NAMES: dict[int, str] = {
    Delivery.ACCEPTED: "accepted",
    Delivery.REJECTED: "rejected",
    Delivery.RELEASED: "released",
    Delivery.MODIFIED: "modified",
}
# Give credit in portions: a flow frame for each message would double the frames.
_PORTION = 16


class Source(Protocol):
    """What a consumer takes from."""

    def ready(self, consumer: "Consumer") -> None: ...
    def remove(self, consumer: "Consumer") -> None: ...


class RouterLink:
    """What both kinds share. ``on_confirmed`` and ``on_gone`` are for who made the link himself."""

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
        """The other side answered an attach of ours."""
        if self.on_confirmed is not None:
            self.on_confirmed()

    def flowed(self) -> None:
        """The other side changed credit or drain."""
        if self.on_flow is not None:
            self.on_flow()

    def delivered(self, delivery: Delivery) -> None:
        """A delivery came in or changed."""
        raise NotImplementedError

    def end(self) -> None:
        """Take the link out of the router; its open deliveries find their end."""
        raise NotImplementedError


class Producer(RouterLink):
    """A link on which messages come in; credit is given while its sink has a path."""

    def __init__(self, connection: Connection, proton: Link, sink: Sink) -> None:
        super().__init__(connection, proton)
        self.sink = sink
        self.gives_credit = True  # False on a routed link: the far side decides
        self._partial = bytearray()

    def delivered(self, delivery: Delivery) -> None:
        inbound = self.unsettled.get(delivery)
        if inbound is None:
            self._read()
        elif delivery.settled:
            inbound.sender_settled()

    def top_up(self) -> None:
        """Keep credit and unfinished messages together at the link's capacity."""
        if not self.gives_credit or not self.sink.has_path:
            return
        missing = self.connection.settings.capacity - self.credit - len(self.unsettled)
        if missing >= _PORTION or (missing > 0 and self.credit < _PORTION):
            self.proton.flow(missing)
            self.connection.touch()

    def finish(self, inbound: Inbound) -> None:
        """Settle with the sender."""
        self.unsettled.pop(inbound.delivery, None)
        if self.connection.is_gone:
            return
        inbound.delivery.settle()
        self.connection.touch()
        self.top_up()

    def end(self) -> None:
        self.sink.leave(self)
        for inbound in self.unsettled.values():
            inbound.settled = True  # nobody is left to be told
        self.unsettled.clear()

    def _read(self) -> None:
        while (delivery := self.proton.current) is not None and delivery.readable:
            if delivery.aborted:
                self._partial.clear()
                self.proton.advance()
                delivery.settle()
                continue
            self._partial += self.proton.recv(delivery.pending) or b""
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
    """A link on which messages go out, within the credit of the other side."""

    def __init__(self, connection: Connection, proton: Link, source: Source) -> None:
        super().__init__(connection, proton)
        self.source = source
        self._backlog: deque[Inbound] = deque()
        self._tags = itertools.count(1)

    @property
    def outstanding(self) -> int:
        """How many messages it was given and has not settled."""
        return len(self._backlog) + len(self.unsettled)

    def flowed(self) -> None:
        self.source.ready(self)
        self.connection.touch()

    def give_back_credit(self) -> None:
        """End a drain: what credit is left will not be used."""
        if self.proton.drain_mode and not self._backlog:
            self.proton.drained()

    def send(self, inbound: Inbound) -> None:
        """Send a message now; there must be credit."""
        if inbound.settled:
            self.send_settled(inbound.payload)
            return
        delivery = self._transmit(inbound.payload)
        if self.proton.snd_settle_mode == Link.SND_SETTLED:
            delivery.settle()
            inbound.conclude(forwarding.ACCEPTED)
        else:
            self.unsettled[delivery] = inbound

    def send_settled(self, payload: bytes) -> None:
        """Send what nobody wants the outcome of; there must be credit."""
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
        """Send a copy now or when credit comes; a settled one finds its end when too many wait."""
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
        if not delivery.settled and not (
            verdict.is_terminal and not inbound.propose(verdict, self, delivery)
        ):
            return
        self.counts[_NAMES.get(verdict.state, "settled")] += 1
        self.settle(delivery)
        inbound.conclude(verdict)

    def settle(self, delivery: Delivery) -> None:
        """Settle on this side and forget."""
        self.unsettled.pop(delivery, None)
        delivery.settle()
        self.connection.touch()

    def end(self) -> None:
        self.source.remove(self)
        for inbound in self._backlog:
            inbound.conclude(forwarding.RELEASED)
        for inbound in list(self.unsettled.values()):
            inbound.conclude(forwarding.LOST)
        self._backlog.clear()
        self.unsettled.clear()
