"""A message on its way: where it may go, and how its outcome finds the way back.

The router stores nothing: a message is the sender's until a consumer has settled it. ``Inbound`` is
one such message, ``Address`` shares or copies messages out to consumers.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from proton import Condition, Delivery

if TYPE_CHECKING:
    from workers.services.devrouter.links import Consumer, Producer

# For a message that went to several: what one of them says weighs more than what another says.
_WEIGHT: dict[int, int] = {
    Delivery.REJECTED: 4,
    Delivery.ACCEPTED: 3,
    Delivery.MODIFIED: 2,
    Delivery.RELEASED: 1,
}


@dataclass(frozen=True)
class Verdict:
    """An outcome with what belongs to it (AMQP part 3 section 3.4). State 0: settled without."""

    state: int
    condition: Condition | None = None
    failed: bool = False
    undeliverable: bool = False
    annotations: Any = None

    @property
    def is_terminal(self) -> bool:
        return self.state in _WEIGHT

    def put_into(self, delivery: Delivery) -> None:
        """Tell the sender of ``delivery``."""
        if self.state == Delivery.REJECTED and self.condition is not None:
            delivery.local.condition = self.condition
        elif self.state == Delivery.MODIFIED:
            delivery.local.failed = self.failed
            delivery.local.undeliverable = self.undeliverable
            delivery.local.annotations = self.annotations
        if self.is_terminal:
            delivery.update(self.state)


ACCEPTED = Verdict(Delivery.ACCEPTED)
RELEASED = Verdict(Delivery.RELEASED)
LOST = Verdict(Delivery.MODIFIED, failed=True)  # the consumer went away with it


def verdict_of(delivery: Delivery) -> Verdict:
    """Return what the receiver of ``delivery`` said."""
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
    """One message that came in and whose fate is open. ``settled``: its sender does not ask."""

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
        """Say that the message goes to ``copies`` consumers, each of which will conclude once."""
        self._copies = copies

    def conclude(self, verdict: Verdict) -> None:
        """Take one consumer's outcome; the last one decides and settles with the sender."""
        best = self._verdict
        if best is None or _WEIGHT.get(verdict.state, 0) > _WEIGHT.get(best.state, 0):
            self._verdict = verdict
        self._copies -= 1
        if self._copies > 0 or self.settled:
            return
        if self._second is None and self._verdict is not None:
            self._verdict.put_into(self.delivery)  # else the sender has been told already
        self.producer.finish(self)

    def propose(self, verdict: Verdict, consumer: "Consumer", delivery: Delivery) -> bool:
        """Pass on an outcome that the consumer will settle only after the sender does.

        Returns False for a message with several consumers: there is no such sender to wait for.
        """
        if self._copies != 1 or self.settled:
            return False
        if self._second is None:
            self._second = (consumer, delivery)
            verdict.put_into(self.delivery)
            self.producer.connection.touch()
        return True

    def sender_settled(self) -> None:
        """The sender settled first: it knows the outcome, or it does not care any more."""
        if self._second is not None:
            consumer, delivery = self._second
            consumer.settle(delivery)
        self.settled = True
        self.producer.finish(self)


class Sink(Protocol):
    """Where a producer's messages go."""

    @property
    def has_path(self) -> bool:
        """Whether somebody could take a message: only then is credit given."""
        ...

    def accept(self, inbound: Inbound) -> None: ...
    def leave(self, producer: "Producer") -> None: ...


class Address:
    """One row of the address table: its links and its counters.

    As in Dispatch, a message is given to a consumer at once, whatever credit that has: it waits at
    the consumer's link, and goes back to its sender when that link ends. It is counted when it is
    given. ``holds`` counts autoLinks that keep the row, and its counters, alive without any link.
    Source: Qpid Dispatch, ``forwarder.c``, ``qdr_forward_balanced_CT``.
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
        """Forget a producer."""
        if producer in self.producers:
            self.producers.remove(producer)

    def add(self, consumer: "Consumer") -> None:
        """Open the way to a new consumer; producers get credit even before it gives any."""
        self.consumers.append(consumer)
        for producer in self.producers:
            producer.top_up()
        self.ready(consumer)

    def remove(self, consumer: "Consumer") -> None:
        """Close the way to a consumer."""
        if consumer in self.consumers:
            self.consumers.remove(consumer)

    def accept(self, inbound: Inbound) -> None:
        if not self.consumers:
            inbound.conclude(RELEASED)
        elif self.distribution == "multicast":
            self._count_in(inbound.producer)
            inbound.expect(len(self.consumers))
            for consumer in list(self.consumers):
                self._give(inbound, consumer)
        else:
            self._count_in(inbound.producer)
            self._give(inbound, self._next_consumer())

    def ready(self, consumer: "Consumer") -> None:
        """A consumer has credit again."""
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
        """Return the consumer that has least to do, with credit or not; take turns among equals."""
        chosen = min(self.consumers, key=lambda each: each.outstanding)
        self.consumers.remove(chosen)
        self.consumers.append(chosen)
        return chosen
