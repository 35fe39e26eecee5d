"""The clients' side: who exchanged how much on which address, counted by the clients alone."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from workers.messaging.traffic import Login, Party, Plan, Tally

UNAUTHORIZED = "amqp:unauthorized-access"  # AMQP 1.0, part 2.8.15
LET_IN = "let in"  # what an attempt says of a client that was not refused
# Each receiver of these gets every message; the others share them.
COPYING = frozenset({"topic", "multicast"})
SUBSCRIPTION = "subscription"


@dataclass
class SpaceCount:
    """What the clients of one space counted. ``peak`` is how many were connected at once.

    ``others`` are clients that exchanged nothing: refused or revoked ones.
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
        """Add what was counted later, when none of these clients was connected any more."""
        for address, tally in later.by_address.items():
            self.by_address[address] = self.by_address.get(address, Tally()) + tally
        self.others += later.others
        self.peak = max(self.peak, later.peak)

    def _whole(self) -> Tally:
        return sum(self.by_address.values(), self.others)


def plan_for(address: str, type: str, messages: int) -> Plan:
    """Return what clients do on an address: two senders, two receivers.

    A subscription, ``<topic>::<name>``, gets what is sent to its topic and is only read.
    """
    if type == SUBSCRIPTION:
        return Plan(address, 0, receivers=2, arriving=messages)
    return Plan(address, messages, senders=2, receivers=2, copies=type in COPYING)


def metered_name(address: str) -> str:
    """Return the name that usage has for an address: a subscription's own, without its topic."""
    return address.rpartition("::")[2]


class Exchange:
    """All clients of one space at once: open, exchange, hold, close, count."""

    def __init__(self, login: Login, plans: Sequence[Plan]) -> None:
        self._parties = [Party(login, plan) for plan in plans]
        self.count = SpaceCount()

    def open(self) -> None:
        """Connect every client of every address."""
        for party in self._parties:
            party.open()
        self.count.peak = max(self.count.peak, self._connected())

    def run(self) -> None:
        """Send and receive everything, each confirmed."""
        for party in self._parties:
            party.exchange()

    def close(self) -> SpaceCount:
        """Close every connection in order and return what was counted. Idempotent."""
        for party in self._parties:
            tally = party.close()
            self.count.by_address[metered_name(party.plan.address)] = tally
        return self.count

    def _connected(self) -> int:
        return sum(party.tally().connections for party in self._parties)


def hold(seconds: float, until: float) -> None:
    """Wait ``seconds`` after the monotonic instant ``until``."""
    time.sleep(max(0.0, until + seconds - time.monotonic()))
