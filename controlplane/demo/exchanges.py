"""Runs AMQP clients that exchange messages on each address of a space and count them themselves."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from workers.messaging.counting_client import Login, Tally
from workers.messaging.traffic import Party, Plan

UNAUTHORIZED = "amqp:unauthorized-access"  # AMQP 1.0, part 2.8.15
LET_IN = "let in"  # ``traffic.Attempt.condition`` of an attempt that was not refused
# Address types whose receivers each get every message. Receivers of other types share the messages.
COPYING = frozenset({"topic", "multicast"})
SUBSCRIPTION = "subscription"


@dataclass
class SpaceCount:
    """What the clients of one space counted.

    * ``by_address``: the tally of the clients of each address, by its name in usage.
    * ``others``: the tally of clients that only connected: they tried to log in, or were revoked.
    * ``peak``: the largest number of clients that were connected at once.
    """

    by_address: dict[str, Tally] = field(default_factory=dict)
    others: Tally = field(default_factory=Tally)
    peak: int = 0

    @property
    def connections(self) -> int:
        """How many connections were opened, those of ``others`` included."""
        return self._whole().connections

    @property
    def connection_seconds(self) -> float:
        """The sum of the seconds for which all connections were open, ``others`` included."""
        return self._whole().connection_seconds

    def include(self, later: "SpaceCount") -> None:
        """Add ``later``, the count of clients that connected after all of these had disconnected.

        So the higher one of both peaks is the new peak.
        """
        for address, tally in later.by_address.items():
            self.by_address[address] = self.by_address.get(address, Tally()) + tally
        self.others += later.others
        self.peak = max(self.peak, later.peak)

    def _whole(self) -> Tally:
        return sum(self.by_address.values(), self.others)


def plan_for(address: str, type: str, messages: int) -> Plan:
    """Return what clients do on an address: two send ``messages`` in total, and two receive.

    On a topic or multicast address each receiver gets every message; on others they share the
    messages. A subscription, ``<topic>::<name>``, has only receivers, for the ``messages`` that are
    sent to its topic.
    """
    if type == SUBSCRIPTION:
        return Plan(address, 0, receivers=2, arriving=messages)
    return Plan(address, messages, senders=2, receivers=2, copies=type in COPYING)


def metered_name(address: str) -> str:
    """Return the name of an address in usage: for a subscription, the name without the topic."""
    return address.rpartition("::")[2]


class Exchange:
    """The clients of all addresses of one space, all with the same login.

    Call ``open`` to connect them, ``run`` to exchange the messages, ``close`` to disconnect them.
    In between they stay connected.
    """

    def __init__(self, login: Login, plans: Sequence[Plan]) -> None:
        self._parties = [Party(login, plan) for plan in plans]
        self.count = SpaceCount()

    def open(self) -> None:
        """Connect every client of every address, and record how many are connected as the peak.

        Raises:
            TrafficError: a client was refused, or not connected in time.
        """
        for party in self._parties:
            party.open()
        self.count.peak = max(self.count.peak, self._connected())

    def run(self) -> None:
        """Send and receive all messages, one address after the other; each message is confirmed.

        Raises:
            TrafficError: a client was refused, or not everything arrived in time.
        """
        for party in self._parties:
            party.exchange()

    def close(self) -> SpaceCount:
        """Close every connection cleanly and return what was counted. Idempotent."""
        for party in self._parties:
            tally = party.close()
            self.count.by_address[metered_name(party.plan.address)] = tally
        return self.count

    def _connected(self) -> int:
        return sum(party.tally().connections for party in self._parties)


def hold(seconds: float, until: float) -> None:
    """Sleep until ``seconds`` seconds after ``until``, an instant of the monotonic clock.

    Returns at once if that time has passed.
    """
    time.sleep(max(0.0, until + seconds - time.monotonic()))
