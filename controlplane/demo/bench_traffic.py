"""Measures messages a second through one queue, and their CPU time, for ``bench_routers``."""

import os
from collections.abc import Iterator, Mapping

from controlplane.demo.bench_results import Result, result, wait_quiet
from controlplane.demo.bench_servers import Spent, Watch
from workers.messaging.counting_client import Login
from workers.messaging.traffic import Party, Plan

_MESSAGES = int(os.environ.get("WAYPOST_BENCH_MESSAGES", "30000"))
_TIMEOUT_SECONDS = 300  # for one exchange of all messages


def measure(login: Login, queue: str, way: str, pids: Mapping[str, int]) -> Iterator[Result]:
    """Yield three figures, in messages a second: into the queue, out of it, and both at once.

    ``way`` names the path in the figures' texts. ``pids`` are the servers whose CPU time is
    measured. The clients exchange durable messages of 100 bytes over TLS, and each is confirmed. As
    many messages are in flight as the other side gives credit for (router 250, broker 1,000).
    """
    # ``copies`` without receivers, so that no message is expected to arrive.
    send = Plan(queue, _MESSAGES, receivers=0, copies=True)
    take = Plan(queue, 0, arriving=_MESSAGES)
    both = Plan(queue, _MESSAGES)
    _exchange(login, Plan(queue, 1000), {})  # warms up the broker's just-in-time compiler
    for plan, direction in ((send, "in"), (take, "out"), (both, "in and out at once")):
        load = wait_quiet()
        spent = _exchange(login, plan, pids)
        yield result(
            f"a queue {way}: messages {direction}",
            _MESSAGES / spent.seconds,
            "/s",
            load=load,
            more=spent.for_each_thousand(_MESSAGES),
        )


def _exchange(login: Login, plan: Plan, pids: Mapping[str, int]) -> Spent:
    party = Party(login, plan)
    # A receiver gets messages as soon as its link is up, so its time begins before ``open``.
    watch = Watch(pids) if plan.arriving else None
    party.open()
    watch = watch or Watch(pids)
    party.exchange(_TIMEOUT_SECONDS)
    spent = watch.spent()
    party.close()
    return spent
