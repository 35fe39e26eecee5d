"""The clients' side: AMQP clients exchange messages on each address and count them themselves."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from workers.messaging.counting_client import Login, Tally
from workers.messaging.traffic import Party, Plan

UNAUTHORIZED = "amqp:unauthorized-access"  # AMQP 1.0, part 2.8.15
LET_IN = "let in"  # the condition of an attempt that was not refused
# Address types whose receivers each get every message; receivers of other types share them.
COPYING = frozenset({"topic", "multicast"})
SUBSCRIPTION = "subscription"


@dataclass
class SpaceCount:
    """What the clients of one space counted. ``peak`` is how many were connected at once.

    ``others`` is the tally of clients that exchanged no message, because they were refused or
    revoked.
    """

    by_address: dict[str, Tally] = field(default_factory=dict)
    others: Tally = field(default_factory=Tally)
    peak: int = 0

    @property
    def connections(self) -> int:
        """Return how many connections were opened."""
        return self._whole().connections

    @property
    def connection_seconds(self) -> float:
        """Return the connections' time, summed."""
        return self._whole().connection_seconds

    def include(self, later: "SpaceCount") -> None:
        """Add what other clients counted after all of these had disconnected."""
        for address, tally in later.by_address.items():
            self.by_address[address] = self.by_address.get(address, Tally()) + tally
        self.others += later.others
        self.peak = max(self.peak, later.peak)

    def _whole(self) -> Tally:
        return sum(self.by_address.values(), self.others)


def plan_for(address: str, type: str, messages: int) -> Plan:
    """Return what clients do on an address: two senders, two receivers.

    A subscription, ``<topic>::<name>``, has only receivers, for the messages sent to its topic.
    """
    if type == SUBSCRIPTION:
        return Plan(address, 0, receivers=2, arriving=messages)
    return Plan(address, messages, senders=2, receivers=2, copies=type in COPYING)


def metered_name(address: str) -> str:
    """Return the name of an address in usage: that of a subscription has no topic."""
    return address.rpartition("::")[2]


class Exchange:
    """All clients of one space at once: ``open``, ``run``, hold as long as needed, ``close``."""

    def __init__(self, login: Login, plans: Sequence[Plan]) -> None:
        self._parties = [Party(login, plan) for plan in plans]
        self.count = SpaceCount()

    def open(self) -> None:
        """Connect every client of every address."""
        for party in self._parties:
            party.open()
        self.count.peak = max(self.count.peak, self._connected())

    def run(self) -> None:
        """Send and receive all messages, each confirmed."""
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
    """Wait ``seconds`` after the monotonic instant ``until``."""
    time.sleep(max(0.0, until + seconds - time.monotonic()))
