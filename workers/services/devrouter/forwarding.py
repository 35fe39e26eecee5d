"""A message on its way: where it may go, and how its outcome finds the way back.

The router stores nothing: a message is the sender's until a consumer has settled it. ``Inbound`` is
one such message, ``Address`` shares or copies messages out to consumers.
"""

from collections import deque
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
    """One row of the address table: its links, what waits for credit, its counters.

    Messages are counted when they go on to a consumer. ``holds`` counts autoLinks that keep the
    row, and its counters, alive without any link.
    """

    def __init__(self, key: str, distribution: str) -> None:
        self.key = key
        self.distribution = distribution
        self.consumers: list[Consumer] = []
        self.producers: list[Producer] = []
        self.holds = 0
        self.ingress = self.egress = 0
        self.ingress_container = self.egress_container = 0
        self._waiting: deque[Inbound] = deque()

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
        """Forget a producer; what of its own waits here was never passed on."""
        if producer in self.producers:
            self.producers.remove(producer)
        self._waiting = deque(
            each for each in self._waiting if each.settled or each.producer is not producer
        )

    def add(self, consumer: "Consumer") -> None:
        """Open the way to a new consumer; producers get credit even before it gives any."""
        self.consumers.append(consumer)
        for producer in self.producers:
            producer.top_up()
        self.ready(consumer)

    def remove(self, consumer: "Consumer") -> None:
        """Close the way; without any other, what waits goes back to its senders."""
        if consumer in self.consumers:
            self.consumers.remove(consumer)
        if not self.consumers:
            while self._waiting:
                self._waiting.popleft().conclude(RELEASED)

    def accept(self, inbound: Inbound) -> None:
        if not self.consumers:
            inbound.conclude(RELEASED)
        elif self.distribution == "multicast":
            self._copy(inbound)
        else:
            self._waiting.append(inbound)
            self._share()

    def ready(self, consumer: "Consumer") -> None:
        """A consumer has credit again."""
        if self.distribution == "multicast":
            consumer.send_backlog()
        else:
            self._share()
        consumer.give_back_credit()

    def count_out(self, consumer: "Consumer") -> None:
        self.egress += 1
        self.egress_container += consumer.is_container

    def _count_in(self, producer: "Producer") -> None:
        self.ingress += 1
        self.ingress_container += producer.is_container

    def _copy(self, inbound: Inbound) -> None:
        self._count_in(inbound.producer)
        inbound.expect(len(self.consumers))
        for consumer in list(self.consumers):
            consumer.offer(inbound)

    def _share(self) -> None:
        while self._waiting:
            consumer = self._next_consumer()
            if consumer is None:
                return
            inbound = self._waiting.popleft()
            self._count_in(inbound.producer)
            consumer.send(inbound)

    def _next_consumer(self) -> "Consumer | None":
        """Return the consumer with credit that has least to do; take turns among equals."""
        ready = [each for each in self.consumers if each.credit > 0]
        if not ready:
            return None
        chosen = min(ready, key=lambda each: len(each.unsettled))
        self.consumers.remove(chosen)
        self.consumers.append(chosen)
        return chosen
