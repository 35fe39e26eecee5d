"""Forward messages to consumers and return the consumers' outcomes to the senders.

The router stores nothing on disk: the sender is responsible for a message until a consumer has
settled it. ``Inbound`` is one received message. ``Address`` gives it to one consumer, or a copy to
each.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from proton import Condition, Delivery

if TYPE_CHECKING:
    from workers.services.devrouter.links import Consumer, Producer

# A multicast message has several outcomes; the sender gets the one with the highest weight.
_WEIGHT: dict[int, int] = {
    Delivery.REJECTED: 4,
    Delivery.ACCEPTED: 3,
    Delivery.MODIFIED: 2,
    Delivery.RELEASED: 1,
}


@dataclass(frozen=True)
class Verdict:
    """The outcome of a message with its fields (AMQP part 3 section 3.4).

    ``state`` is a state of proton, such as ``Delivery.ACCEPTED``; 0 means settled without an
    outcome. The fields after ``condition`` belong to the outcome ``modified``.
    """

    state: int
    condition: Condition | None = None
    failed: bool = False
    undeliverable: bool = False
    annotations: Any = None

    @property
    def is_terminal(self) -> bool:
        return self.state in _WEIGHT

    def put_into(self, delivery: Delivery) -> None:
        """Set this outcome on ``delivery``, so that its sender gets it; do nothing for state 0."""
        if self.state == Delivery.REJECTED and self.condition is not None:
            delivery.local.condition = self.condition
        elif self.state == Delivery.MODIFIED:
            delivery.local.failed = self.failed
            delivery.local.undeliverable = self.undeliverable
            delivery.local.annotations = self.annotations
        # Otherwise the consumer only settled: there is no outcome to pass on.
        if self.is_terminal:
            delivery.update(self.state)


ACCEPTED = Verdict(Delivery.ACCEPTED)
RELEASED = Verdict(Delivery.RELEASED)
LOST = Verdict(Delivery.MODIFIED, failed=True)  # the consumer's link ended before it settled


def verdict_of(delivery: Delivery) -> Verdict:
    """Return the outcome that the receiver of ``delivery`` has set."""
    state, remote = delivery.remote_state, delivery.remote
    if state == Delivery.REJECTED:
        return Verdict(state, condition=remote.condition)
    if state == Delivery.MODIFIED:
        return Verdict(
            state,
            failed=remote.failed,
            undeliverable=remote.undeliverable,
            annotations=remote.annotations,
        )
    return Verdict(state)


class Inbound:
    """One received message until it has its outcome.

    ``producer`` received it. ``settled``: the sender expects no outcome, or no longer.
    """

    __slots__ = ("_copies", "_second", "_verdict", "delivery", "payload", "producer", "settled")

    def __init__(
        self, producer: "Producer", delivery: Delivery, payload: bytes, *, settled: bool
    ) -> None:
        self.producer = producer
        self.delivery = delivery
        self.payload = payload
        self.settled = settled
        self._copies = 1
        self._verdict: Verdict | None = None
        self._second: tuple[Consumer, Delivery] | None = None

    def expect(self, copies: int) -> None:
        """Set to how many consumers the message goes; each must call ``conclude`` once.

        Call it before the first consumer gets the message. Without a call there is one consumer.
        """
        self._copies = copies

    def conclude(self, verdict: Verdict) -> None:
        """Record the outcome of one consumer; after the last consumer, settle with the sender.

        The sender gets the outcome with the highest weight, unless it has settled already.
        """
        best = self._verdict
        if best is None or _WEIGHT.get(verdict.state, 0) > _WEIGHT.get(best.state, 0):
            self._verdict = verdict
        self._copies -= 1
        if self._copies > 0 or self.settled:
            return
        if self._second is None and self._verdict is not None:
            # With ``_second`` set, ``propose`` has sent the outcome already.
            self._verdict.put_into(self.delivery)
        self.producer.finish(self)

    def propose(self, verdict: Verdict, consumer: "Consumer", delivery: Delivery) -> bool:
        """Pass an outcome on to the sender before the consumer settles.

        This is for a consumer that settles only after the sender (``rcv-settle-mode`` second).
        ``delivery`` is the consumer's: it is settled once the sender has settled. Return False, and
        do nothing, if the message has several consumers or its sender has settled: then the caller
        must settle with the consumer at once.
        """
        if self._copies != 1 or self.settled:
            return False
        if self._second is None:
            self._second = (consumer, delivery)
            verdict.put_into(self.delivery)
            self.producer.connection.touch()
        return True

    def sender_settled(self) -> None:
        """Handle that the sender has settled: no outcome can be sent to it any more."""
        # End the wait of a consumer that waits for the sender (``propose``).
        if self._second is not None:
            consumer, delivery = self._second
            consumer.settle(delivery)
        self.settled = True
        self.producer.finish(self)


class Sink(Protocol):
    """The destination of a producer's messages: an ``Address``, ``RoutedPair`` or the like.

    ``accept`` takes a message and sees to its outcome; ``leave`` is called when the producer's link
    ends.
    """

    @property
    def has_path(self) -> bool:
        """Whether a message could be delivered; the producer gives credit only then."""
        ...

    def accept(self, inbound: Inbound) -> None: ...
    def leave(self, producer: "Producer") -> None: ...


class Address:
    """One row of the address table: it forwards messages, and has the address's links and counters.

    As in Dispatch, a message is given to a consumer at once, even without credit. The message is
    counted then, and waits at the consumer's link for credit. If that link ends, the messages that
    still wait are released to their senders. Source: Qpid Dispatch, ``forwarder.c``,
    ``qdr_forward_balanced_CT``.

    ``holds`` is the number of autoLinks for the address. Each keeps the row with its counters, even
    while no link is attached. ``ingress`` and ``egress`` count messages in and out; those with
    ``container`` in their names count only messages from and to brokers.
    """

    def __init__(self, key: str, distribution: str) -> None:
        self.key = key
        self.distribution = distribution
        self.consumers: list[Consumer] = []
        self.producers: list[Producer] = []
        self.holds = 0
        self.ingress = self.egress = 0
        self.ingress_container = self.egress_container = 0

    @property
    def has_path(self) -> bool:
        return bool(self.consumers)

    @property
    def is_idle(self) -> bool:
        return not (self.consumers or self.producers or self.holds)

    def enter(self, producer: "Producer") -> None:
        self.producers.append(producer)
        producer.top_up()

    def leave(self, producer: "Producer") -> None:
        """Remove a producer; do nothing if the producer never joined."""
        if producer in self.producers:
            self.producers.remove(producer)

    def add(self, consumer: "Consumer") -> None:
        """Add a consumer; let all producers give credit, even if the consumer has given none."""
        self.consumers.append(consumer)
        for producer in self.producers:
            producer.top_up()
        self.ready(consumer)

    def remove(self, consumer: "Consumer") -> None:
        """Remove a consumer; do nothing if the consumer never joined."""
        if consumer in self.consumers:
            self.consumers.remove(consumer)

    def accept(self, inbound: Inbound) -> None:
        if not self.consumers:
            inbound.conclude(RELEASED)
        elif self.distribution == "multicast":
            self._count_in(inbound.producer)
            # The number of copies first: a consumer may conclude at once.
            inbound.expect(len(self.consumers))
            for consumer in list(self.consumers):
                self._give(inbound, consumer)
        else:
            self._count_in(inbound.producer)
            self._give(inbound, self._next_consumer())

    def ready(self, consumer: "Consumer") -> None:
        """Send the consumer what waits for its credit; complete its drain if it requests one."""
        consumer.send_backlog()
        consumer.give_back_credit()

    def _count_in(self, producer: "Producer") -> None:
        self.ingress += 1
        self.ingress_container += producer.is_container

    def _give(self, inbound: Inbound, consumer: "Consumer") -> None:
        self.egress += 1
        self.egress_container += consumer.is_container
        consumer.offer(inbound)

    def _next_consumer(self) -> "Consumer":
        """Return the consumer with the fewest outstanding messages; equal consumers take turns."""
        chosen = min(self.consumers, key=lambda consumer: consumer.outstanding)
        # Move it to the end: ``min`` returns the first of several equal consumers.
        self.consumers.remove(chosen)
        self.consumers.append(chosen)
        return chosen
