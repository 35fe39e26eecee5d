"""kill -9 while counted traffic runs: all comes back by itself, nothing acknowledged is lost.

What bills is in our own servers' hands only by copies, so their deaths change no figure. What a
broker or router carried since its last sample dies with it: the bill is smaller by that at most,
and the invoice says so.
"""

import os
import signal
import time
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from threading import Barrier

import psycopg
import pytest

from controlplane.core.accounts import OPERATOR_EMAIL
from controlplane.demo import bills
from controlplane.demo.customers import EVERYTHING, Customer, Operator
from controlplane.embedded import ports, servers, stack
from controlplane.embedded.installation import DATABASE, Installation
from controlplane.rest_client import Json
from tests.suites.e2e.conftest import short_folder
from tests.support.messaging.paced import Receiver, Sender, connect
from tests.support.waiting import eventually
from workers.messaging.counting_client import Client, Login, TrafficError

pytestmark = [pytest.mark.stack, pytest.mark.slow, pytest.mark.drill]

INTERVAL_SECONDS = 5
# Spark runs for the closes only: what is tested here does not hang on how often it runs.
SETTINGS = {
    "WAYPOST_SAMPLE_SECONDS": str(INTERVAL_SECONDS),
    "WAYPOST_LANDING_SECONDS": "10",
    "WAYPOST_PIPELINE_SECONDS": "3600",
}
# A look may be late by the time that it takes.
SLACK_SECONDS = 3.0
QUEUE = "jobs"


@dataclass(frozen=True)
class Torn:
    """What clients saw around a kill: numbers acknowledged before two samples, and after it."""

    kind: str
    source: str
    killed_at: float
    seen: Collection[int]
    after: Collection[int]
    delivered: Sequence[int]

    @property
    def least(self) -> int:
        """How many messages must be billed: all that the last sample before the kill has seen."""
        return len(self.seen) + len(self.after)


@pytest.fixture(scope="module")
def running() -> Iterator[Installation]:
    """An installation that samples often."""
    with short_folder() as parent:
        yield stack.up(parent / "s", web_port=ports.reserve_port(), settings=SETTINGS)


@pytest.fixture
def customer(running: Installation, tmp_path: Path) -> Iterator[Customer]:
    """A tenant with a space of each type, each with a queue; names differ between tests."""
    made = Customer(running.url, "Rugged Haulage", tmp_path)
    made.sign_up("team")
    mark = made.slug.rsplit("-", 1)[-1]
    for kind in ("brokered", "standard"):
        space = f"{kind}-{mark}"
        made.create_space(space, kind, f"{kind}-small")
        made.create_address(space, QUEUE, "queue", f"{kind}-small-queue")
        made.create_user(space, "client", EVERYTHING)
    with closing(made.api):
        yield made


def space_of(customer: Customer, kind: str) -> str:
    return next(name for name, space in customer.spaces.items() if space.type == kind)


def instance_of(running: Installation, space: str, name: str) -> str:
    """Return the program's name of a space's broker or router."""
    (program,) = [
        program.name
        for program in running.supervisor().list_programs()
        if program.name.startswith(f"wp-{space}-") and program.name.endswith(f".{name}")
    ]
    return program


def kill(running: Installation, name: str) -> None:
    """Kill the program, and return once it runs again by itself."""
    killed = running.supervisor().find(name)
    assert killed is not None
    assert killed.is_running
    os.kill(killed.pid, signal.SIGKILL)

    def is_back() -> bool:
        now = running.supervisor().find(name)
        return now is not None and now.is_running and now.pid != killed.pid

    eventually(is_back, f"{name} runs again", seconds=60)


def resume(login: Login, first: int) -> Sender:
    """Send again as soon as somebody answers."""
    deadline = time.monotonic() + 60
    while True:
        sender = Sender(login, QUEUE, first)
        try:
            connect(sender)
        except TrafficError:
            assert time.monotonic() < deadline, "nobody answers"
            time.sleep(0.5)
        else:
            return sender


def drain(login: Login, wanted: set[int]) -> Receiver:
    """Return a receiver that has taken all wanted messages and whatever else there was."""
    receiver = Receiver(login, QUEUE)
    connect(receiver)
    eventually(lambda: wanted <= set(receiver.numbers), "acknowledged messages are there")
    seen = -1
    while seen < len(receiver.numbers):  # those in flight at the kill may come, too
        seen = len(receiver.numbers)
        time.sleep(3)
    return receiver


def settle(sender: Sender) -> None:
    """Stop sending and wait until all that was sent is acknowledged."""
    sender.rest()
    eventually(lambda: sender.is_settled, "all is acknowledged", seconds=60)


def take_all(receiver: Receiver, sender: Sender) -> None:
    eventually(
        lambda: len(receiver.numbers) >= len(sender.acknowledged), "all is received", seconds=60
    )


def leave(*clients: Client) -> None:
    for client in clients:
        client.leave()
    for client in clients:
        assert client.ended.wait(20)


def close_and_issue(running: Installation, customer: Customer) -> Json:
    operator = Operator(running.url, OPERATOR_EMAIL, running.secrets.operator_password)
    with closing(operator.api):
        operation = operator.close_now(customer)
        customer.follow(operation, stalled_seconds=240)
        return bills.issue(operator, customer, operation["subject_id"])


def figure(found: bills.Metered, customer: Customer, kind: str, meter: str) -> int:
    space = customer.spaces[space_of(customer, kind)]
    address = "" if meter == "connections_opened" else QUEUE
    return found.get((space.id, address, meter), 0)


def test_deaths_of_our_own_servers_change_no_bill(
    running: Installation, customer: Customer
) -> None:
    pairs = {}
    for kind in ("brokered", "standard"):
        login = customer.login(space_of(customer, kind), "client")
        receiver, sender = Receiver(login, QUEUE), Sender(login, QUEUE)
        connect(receiver)
        connect(sender)
        pairs[kind] = sender, receiver

    for name in ("worker", "metering", "web", "postgres", "valkey"):
        before = {kind: len(sender.acknowledged) for kind, (sender, _) in pairs.items()}
        kill(running, name)
        eventually(
            lambda: servers.is_web_ready(running), f"the portal is ready after {name}", seconds=60
        )
        customer.create_address(
            space_of(customer, "brokered"), f"after-{name}", "queue", "brokered-small-queue"
        )
        for kind, (sender, _) in pairs.items():
            assert len(sender.acknowledged) > before[kind], f"{kind} stood still with {name}"
    for sender, receiver in pairs.values():
        settle(sender)
        take_all(receiver, sender)
        leave(sender, receiver)
    invoice = close_and_issue(running, customer)

    found = bills.metered(customer)
    for kind, (sender, receiver) in pairs.items():
        assert sorted(receiver.numbers) == sorted(sender.acknowledged)
        assert figure(found, customer, kind, "messages_in") == sender.tally.accepted
        assert figure(found, customer, kind, "messages_out") == receiver.tally.received
        assert figure(found, customer, kind, "connections_opened") == 2
    assert not invoice["document"]["quality"]["flagged"], invoice["document"]["quality"]


def test_deaths_of_a_broker_and_a_router_are_told_on_the_invoice(
    running: Installation, customer: Customer
) -> None:
    # Both at the same time: each has a space of its own, and most of it is waiting for samples.
    together = Barrier(2, timeout=60)
    with ThreadPoolExecutor() as pool:
        tears = [
            pool.submit(tear, running, customer, space_of(customer, kind), instance, together)
            for kind, instance in (("brokered", "broker-0"), ("standard", "router-0"))
        ]
        torn = [begun.result() for begun in tears]
    invoice = close_and_issue(running, customer)

    found, quality = bills.metered(customer), invoice["document"]["quality"]
    last_samples = {
        gap["source"]: datetime.fromisoformat(gap["last_sample_at"]).timestamp()
        for gap in quality["crash_gaps"]
    }
    for name in torn:
        last_sample = last_samples[name.source]
        billed = figure(found, customer, name.kind, "messages_in")
        assert name.killed_at - last_sample <= INTERVAL_SECONDS + SLACK_SECONDS
        assert name.least <= billed <= len(name.delivered)
        assert figure(found, customer, name.kind, "messages_out") == len(name.delivered)
        assert (
            f"{name.source.split('/')[1]} of {space_of(customer, name.kind)} stopped"
            in (quality["text"])
        )
    assert quality["flagged"]
    assert bills.recompute(customer, invoice) == "same bytes"


def tear(
    running: Installation, customer: Customer, space: str, instance: str, together: Barrier
) -> Torn:
    """Kill the instance while a sender sends, and take all messages when it is back.

    ``together`` is where those wait that kill at once: the samples of one are late while the
    instance of another does not answer.
    """
    login, row = customer.login(space, "client"), customer.spaces[space]
    source = f"{row.id}/{instance}"
    before = Sender(login, QUEUE)
    connect(before)
    time.sleep(INTERVAL_SECONDS)
    first = wait_for_sample(running, source).timestamp()
    wait_for_sample(running, source)  # it began after the first one, for there is one at a time
    together.wait()
    time.sleep(INTERVAL_SECONDS / 2)  # what dies is what came since
    killed_at = time.time()
    kill(running, instance_of(running, space, instance))
    after = resume(login, first=1_000_000)
    time.sleep(INTERVAL_SECONDS)
    settle(after)
    receiver = drain(login, {*before.acknowledged, *after.acknowledged})
    leave(before, after, receiver)
    seen = [number for number, at in before.acknowledged.items() if at < first]
    assert seen
    return Torn(row.type, source, killed_at, seen, after.acknowledged, receiver.numbers)


def wait_for_sample(running: Installation, source: str) -> datetime:
    """Return when the source was read, once another sample of it is remembered."""
    asked = "select sampled_at from workers_meteredsource where source = %s and ended_at is null"
    with psycopg.connect(running.postgres.url(DATABASE), autocommit=True) as connection:

        def last() -> datetime | None:
            row = connection.execute(asked, [source]).fetchone()
            return row[0] if row else None

        former = last()
        eventually(lambda: last() != former, f"{source} is sampled", seconds=4 * INTERVAL_SECONDS)
        found = last()
        assert found is not None
        return found
