"""Run groups of real AMQP clients that exchange a known number of messages, and count these.

Only the demo, the benchmark and the tests use this module. Its clients wait for the outcome of each
message and close their connections cleanly. So the meters of routers and brokers must show exactly
the figures counted here.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from workers.messaging.counting_client import Client, Login, Tally, TrafficError


@dataclass(frozen=True)
class Plan:
    """Says how many clients a ``Party`` has at ``address``, and what they exchange.

    * ``messages``: how many messages all its senders send together.
    * ``senders``, ``receivers``: how many clients of each sort, with one connection each.
    * ``copies``: each receiver gets every message (topic, multicast); otherwise they share them.
    * ``arriving``: how many messages the receivers get from elsewhere. A subscription, for example,
      receives what other parties send to its topic.
    * ``body_bytes``: the size of each message's body.
    """

    address: str
    messages: int
    senders: int = 1
    receivers: int = 1
    copies: bool = False
    arriving: int = 0
    body_bytes: int = 100

    @property
    def expected(self) -> int:
        """How many messages all receivers together take."""
        return self.arriving + self.messages * (self.receivers if self.copies else 1)


class Party:
    """Runs the clients of one ``Plan``: call ``open``, then ``exchange``, then ``close``.

    Each client has one connection, in a thread of its own, which stays open until ``close``.
    """

    def __init__(self, login: Login, plan: Plan) -> None:
        self.plan = plan
        # Each receiver gives credit for all messages, also where receivers share them: a router
        # distributes without regard to credit, and messages beyond the credit would wait in it.
        self._receivers = [
            Client(login, plan.address, credit=plan.expected) for _ in range(plan.receivers)
        ]
        self._senders = [
            Client(login, plan.address, sends=share, body_bytes=plan.body_bytes)
            for share in _split(plan.messages, plan.senders)
        ]

    def open(self, timeout_seconds: float = 30) -> None:
        """Connect all clients and wait until their links are attached.

        Receivers come first, because a router accepts a direct message only if it has a receiver.

        Raises:
            TrafficError: a client was refused, or a link was not attached in time.
        """
        # Start all clients of a group before waiting, so that their logins overlap.
        for clients in (self._receivers, self._senders):
            for client in clients:
                client.start()
            for client in clients:
                if not client.ready.wait(timeout_seconds):
                    raise TrafficError(f"{self.plan.address}: no link in {timeout_seconds:.0f} s")
        self._raise_error()

    def exchange(self, timeout_seconds: float = 60) -> Tally:
        """Send all messages, wait until all have an outcome and all expected ones have arrived.

        Returns what all clients together have counted. A message that the peer rejected has an
        outcome too: ``Tally.refused`` counts it. Call ``open`` before.

        Raises:
            TrafficError: a client failed, or not everything arrived in time.
        """
        for client in self._senders:
            client.go()
        deadline = time.monotonic() + timeout_seconds
        while not self._is_complete():
            self._raise_error()
            if time.monotonic() > deadline:
                raise TrafficError(self._shortfall(timeout_seconds))
            time.sleep(0.02)
        return self.tally()

    def close(self, timeout_seconds: float = 20) -> Tally:
        """Close every connection cleanly; return what all clients have counted. Idempotent.

        Waits up to ``timeout_seconds`` for each client, and raises nothing if one takes longer.
        """
        # Signal all clients first, so that the closes overlap.
        for client in self._clients():
            client.leave()
        for client in self._clients():
            client.ended.wait(timeout_seconds)
        return self.tally()

    def tally(self) -> Tally:
        """Return the sum of what all clients have counted until now."""
        return sum((client.tally for client in self._clients()), Tally())

    def _clients(self) -> Sequence[Client]:
        return [*self._senders, *self._receivers]

    def _is_complete(self) -> bool:
        tally = self.tally()
        confirmed = tally.accepted + tally.refused
        return confirmed == self.plan.messages and tally.received == self.plan.expected

    def _raise_error(self) -> None:
        for client in self._clients():
            if client.error is not None:
                raise client.error

    def _shortfall(self, seconds: float) -> str:
        tally = self.tally()
        return (
            f"{self.plan.address}: {tally.accepted} of {self.plan.messages} accepted and "
            f"{tally.received} of {self.plan.expected} received in {seconds:.0f} s"
        )


def with_password(login: Login, password: str) -> Login:
    """Return a copy of ``login`` with another password."""
    return replace(login, password=password)


@dataclass(frozen=True)
class Attempt:
    """The result of ``attempt``.

    ``refusal``: why the link was not attached: it was refused, or there was no answer in time. None
    if it was attached. ``tally``: what the client counted.
    """

    refusal: TrafficError | None
    tally: Tally

    @property
    def condition(self) -> str:
        """``let in``, or the AMQP error name of the refusal; empty if there was no answer."""
        return self.refusal.condition if self.refusal else "let in"


def attempt(login: Login, address: str, *, sends: bool, timeout_seconds: float = 15) -> Attempt:
    """Connect, attach one sender or receiver, close the connection, and return the result.

    A sender sends nothing. A receiver gives credit for one message, so it may take one. A refusal
    and a timeout are returned, not raised.
    """
    client = Client(login, address, sends=int(sends), credit=int(not sends))
    client.start()
    if not client.ready.wait(timeout_seconds):
        client.leave()
        refusal = TrafficError(f"{address}: no answer in {timeout_seconds:.0f} s")
        return Attempt(refusal, client.tally)
    client.leave()
    client.ended.wait(timeout_seconds)
    return Attempt(client.error, client.tally)


def listen(login: Login, address: str, timeout_seconds: float = 15) -> Client:
    """Start a receiver at ``address`` and return it; it runs until either side closes it.

    The receiver takes at most one message. Waits until it is attached, but at most
    ``timeout_seconds``: after that time it is returned without being attached.

    Raises:
        TrafficError: the login or the link was refused.
    """
    client = Client(login, address, credit=1)
    client.start()
    client.ready.wait(timeout_seconds)
    if client.error is not None:
        raise client.error
    return client


def _split(total: int, parts: int) -> list[int]:
    """Return at most ``parts`` numbers above 0 with the sum ``total``; they differ by at most 1."""
    shares = [total // parts + (1 if index < total % parts else 0) for index in range(parts)]
    return [share for share in shares if share]
