"""A chapter: a tenant uses up its monthly messages, may not send, and may send again."""

import time
from collections.abc import Callable

from controlplane.core.errors import Unavailable
from controlplane.demo import exchanges, prices
from controlplane.demo.cast import Cast
from controlplane.demo.customers import CLIENT, Customer, Space
from workers.messaging import traffic
from workers.messaging.traffic import Plan

_RESOURCE = "messages_per_month"
_AFTER_THE_LIFT = 20


def use_up_the_month(cast: Cast) -> None:
    """Show the alert at 80 %, the end of sending at 100 %, and a limit raised by the operator."""
    cast.narrator.chapter("A month's messages are used up")
    customer = cast.customers[1]
    space = next(iter(customer.spaces.values()))
    used = _show_alert(cast, customer)
    # Half of the rest: a message counts when it is sent and when it is received.
    _exchange(cast, customer, space, (prices.MONTHLY_MESSAGES - used) // 2)
    with cast.narrator.timed("100 % are used: clients may not send any more"):
        _until(lambda: _is_withdrawn(customer, space) is True, "sending was not withdrawn")
    _compare(cast, customer, space, exchanges.UNAUTHORIZED)
    cast.operator().lift(customer, _RESOURCE, 10 * prices.MONTHLY_MESSAGES, "a good customer")
    with cast.narrator.timed("the operator raised the limit: clients may send again"):
        _until(lambda: _is_withdrawn(customer, space) is False, "sending was not allowed again")
    _compare(cast, customer, space, exchanges.LET_IN)
    _exchange(cast, customer, space, _AFTER_THE_LIFT)


def _show_alert(cast: Cast, customer: Customer) -> int:
    """Wait for the alert at 80 % and return how many messages are used by then."""
    counts = cast.counts_of(customer).values()
    tallies = [tally for count in counts for tally in count.by_address.values()]
    used = sum(tally.accepted + tally.received for tally in tallies)
    _until(lambda: _alerts(customer), "no alert was raised")
    alert = _alerts(customer)[-1]
    cast.comparisons.add("messages used at the first alert", used, alert["used"])
    cast.narrator.tell(
        f"{customer.organization} is alerted at {alert['level_percent']} %: {alert['used']} of "
        f"{alert['limit']} messages"
    )
    return used


def _compare(cast: Cast, customer: Customer, space: Space, expected: str) -> None:
    login, address = customer.login(space.name, CLIENT), next(iter(space.addresses))
    """Compare what happens to a sender and to a receiver; the quota stops only senders."""
    count = cast.counts[customer.slug, space.name]
    for does, condition in (("sends", expected), ("receives", exchanges.LET_IN)):
        tried = traffic.attempt(login, address, sends=does == "sends")
        count.others += tried.tally
        cast.narrator.tell(f"a client that {does}: {tried.refusal or exchanges.LET_IN}")
        when = "over the month's limit" if expected == exchanges.UNAUTHORIZED else "after the lift"
        cast.comparisons.add(f"a client {does} {when}", condition, tried.condition)


def _exchange(cast: Cast, customer: Customer, space: Space, messages: int) -> None:
    plan = Plan(next(iter(space.addresses)), messages)
    exchange = exchanges.Exchange(customer.login(space.name, CLIENT), [plan])
    try:
        exchange.open()
        exchange.run()
    finally:
        # The clients of earlier chapters are disconnected by now, as ``include`` requires.
        cast.counts[customer.slug, space.name].include(exchange.close())
    cast.narrator.tell(f"{messages} more messages were sent and received")


def _alerts(customer: Customer) -> list[dict[str, int]]:
    events = customer.api.pages(customer.path("/audit-events"))
    return [event["after"] for event in events if event["action"] == "quota.alert"]


def _is_withdrawn(customer: Customer, space: Space) -> bool | None:
    """Return whether sending is withdrawn; None while a change is not applied yet."""
    row = customer.api.get(customer.path(f"/address-spaces/{space.name}"))
    is_applied = row["generation"] == row["observed_generation"]
    return bool(row["send_withdrawn"]) if is_applied else None


def _until(holds: Callable[[], object], otherwise: str, timeout_seconds: float = 60) -> None:
    deadline = time.monotonic() + timeout_seconds
    while not holds():
        if time.monotonic() > deadline:
            raise Unavailable(
                f"{otherwise} within {timeout_seconds:.0f} s: see worker.log", code="demo.quota"
            )
        time.sleep(0.2)
