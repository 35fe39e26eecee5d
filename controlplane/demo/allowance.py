"""The chapter in which a tenant uses up its monthly messages, may not send, and may send again."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from controlplane.core.errors import Unavailable
from controlplane.demo import exchanges, prices
from controlplane.demo.cast import Cast
from controlplane.demo.customers import CLIENT, Customer, Space
from workers.messaging import traffic
from workers.messaging.traffic import Plan

_RESOURCE = "messages_per_month"
_AFTER_THE_LIFT = 20  # messages


def use_up_the_month(cast: Cast) -> None:
    """Let the second tenant use up its monthly messages; show and compare what Waypost does.

    Waypost raises an alert at 80 % and withdraws sending at 100 %. The operator then raises the
    limit, and the tenant may send again.
    """
    cast.narrator.chapter("A month's messages are used up")
    customer = cast.customers[1]
    month = _Month(cast, customer, next(iter(customer.spaces.values())))
    used = month.show_alert()
    # Half of the rest, because a message counts twice: when it is sent and when it is received.
    month.exchange((prices.MONTHLY_MESSAGES - used) // 2)
    with cast.narrator.timed("100 % are used: clients may not send any more"):
        _until(lambda: month.is_withdrawn() is True, "sending was not withdrawn")
    month.compare(exchanges.UNAUTHORIZED)
    cast.operator().lift(customer, _RESOURCE, 10 * prices.MONTHLY_MESSAGES, "a good customer")
    with cast.narrator.timed("the operator raised the limit: clients may send again"):
        _until(lambda: month.is_withdrawn() is False, "sending was not allowed again")
    month.compare(exchanges.LET_IN)
    month.exchange(_AFTER_THE_LIFT)


@dataclass(frozen=True)
class _Month:
    """Acts as the tenant that uses up its monthly messages, in its one space."""

    cast: Cast
    customer: Customer
    space: Space

    def show_alert(self) -> int:
        """Wait for the first quota alert; return how many messages the clients have used so far.

        Sent and received messages count. Compares this number with the number in the alert.
        """
        counts = self.cast.counts_of(self.customer).values()
        tallies = [tally for count in counts for tally in count.by_address.values()]
        used = sum(tally.accepted + tally.received for tally in tallies)
        _until(self.alerts, "no alert was raised")
        alert = self.alerts()[-1]
        self.cast.comparisons.add("messages used at the first alert", used, alert["used"])
        self.cast.narrator.line(
            f"{self.customer.organization} is alerted at {alert['level_percent']} %: "
            f"{alert['used']} of {alert['limit']} messages"
        )
        return used

    def alerts(self) -> list[dict[str, int]]:
        """Return the values of the tenant's quota alerts, newest first, from its audit events.

        Each has the ``level_percent``, the messages ``used`` and the ``limit``.
        """
        events = self.customer.api.pages(self.customer.path("/audit-events"))
        return [event["after"] for event in events if event["action"] == "quota.alert"]

    def is_withdrawn(self) -> bool | None:
        """Return whether sending is withdrawn in the space.

        None while the workers have not applied the space's newest generation.
        """
        row = self.customer.api.get(self.customer.path(f"/address-spaces/{self.space.name}"))
        is_applied = row["generation"] == row["observed_generation"]
        return bool(row["send_withdrawn"]) if is_applied else None

    def compare(self, expected: str) -> None:
        """Try to send and to receive, and add a comparison for each attempt.

        The sender must get ``expected``, an AMQP error name or ``let in``. The receiver must be let
        in, because the quota stops only senders.
        """
        login = self.customer.login(self.space.name, CLIENT)
        count = self.cast.counts[self.customer.slug, self.space.name]
        is_over = expected == exchanges.UNAUTHORIZED
        when = "over the month's limit" if is_over else "after the lift"
        for does, condition in (("sends", expected), ("receives", exchanges.LET_IN)):
            tried = traffic.attempt(login, self.address, sends=does == "sends")
            # Refused clients connect too, and Waypost counts their connections.
            count.others += tried.tally
            self.cast.narrator.line(f"a client that {does}: {tried.refusal or exchanges.LET_IN}")
            self.cast.comparisons.add(f"a client {does} {when}", condition, tried.condition)

    def exchange(self, messages: int) -> None:
        """Send ``messages`` messages, receive them, and add both to the counts of the space."""
        login = self.customer.login(self.space.name, CLIENT)
        exchange = exchanges.Exchange(login, [Plan(self.address, messages)])
        try:
            exchange.open()
            exchange.run()
        finally:
            # The clients of earlier chapters have disconnected, as ``include`` requires.
            self.cast.counts[self.customer.slug, self.space.name].include(exchange.close())
        self.cast.narrator.line(f"{messages} more messages were sent and received")

    @property
    def address(self) -> str:
        """The first address of the space, through which the messages go."""
        return next(iter(self.space.addresses))


def _until(holds: Callable[[], object], otherwise: str, timeout_seconds: float = 60) -> None:
    deadline = time.monotonic() + timeout_seconds
    while not holds():
        if time.monotonic() > deadline:
            raise Unavailable(
                f"{otherwise} within {timeout_seconds:.0f} s: see worker.log", code="demo.quota"
            )
        time.sleep(0.2)
