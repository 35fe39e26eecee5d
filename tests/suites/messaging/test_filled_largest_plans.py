"""Spaces of the largest plans, filled to every size they sell: `make test-large` runs them.

Brokers have the heap, the message memory and the bytes of the plan. This machine has no volumes, so
the files of a broker are measured and compared with ``broker_disk_gb``.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import pytest
from proton import ConnectionException, Delivery, Endpoint, Message
from proton.reactor import DurableSubscription
from proton.utils import BlockingConnection, BlockingSender, LinkDetached

from controlplane.core.audit import SYSTEM
from controlplane.core.errors import QuotaExceeded
from tenants.actions import address_spaces
from tests.support.messaging import amqp, crowd, routing_rig
from tests.support.messaging.auth_process import AuthProcess
from tests.support.messaging.filled import Clock, FilledSpace
from tests.support.reconcile import patience, rows
from tests.support.waiting import eventually
from workers.reconcile.ports import Ports

pytestmark = [
    pytest.mark.router,
    pytest.mark.broker,
    pytest.mark.slow,
    pytest.mark.django_db(transaction=True),
]

FULL = "amqp:resource-limit-exceeded"
SMALL, MIDDLE, FIVE_MB, FIFTY_MB = 1_000, 64_000, 5_000_000, 50_000_000
# Address -> the sizes of the messages that fill it, one after the other. Four queues and three
# topics take all credit of the broker, and all bytes that its volume sells.
BROKERED = {
    "small": [SMALL],
    "middle": [MIDDLE],
    "large": [FIVE_MB, MIDDLE],
    "largest": [FIFTY_MB, MIDDLE],
    "news/small": [MIDDLE],
    "news/large": [FIVE_MB, MIDDLE],
    "news/mixed": [MIDDLE, FIFTY_MB],
}
STANDARD = {"q0": [SMALL], "q1": [FIVE_MB, MIDDLE], **{f"q{n}": [MIDDLE] for n in range(2, 10)}}
# The bytes of an address without what its memory holds on top, and without headers on its pages.
LEAST, MOST_BESIDE = 0.8, 4 << 20


@pytest.fixture
def brokered(real_ports: Ports, state_dir: Path, tmp_path: Path) -> Iterator[FilledSpace]:
    made = FilledSpace.make(real_ports, state_dir, tmp_path, "brokered", "medium")
    for name in BROKERED:
        rows.make_address(made.space, name, "topic" if "/" in name else "queue", size="medium")
    with pytest.raises(QuotaExceeded):
        rows.make_address(made.space, "more", size="small")
    made.reconcile()
    yield made
    address_spaces.delete(space=made.space, by=SYSTEM)
    patience.look(made.space.id, made.ports)


def test_the_largest_brokered_space_filled(brokered: FilledSpace) -> None:
    """Nearly all connections are open while everything else is filled."""
    clock, boots = Clock(), brokered.boots()
    for name in BROKERED:
        if "/" in name:
            keep_subscription(brokered, name)
    with nearly_all_connections(brokered, spare=10) as check_connections:
        check_connections()
        report(brokered, clock, "all connections")
        fill_all(brokered, BROKERED, clock)
        with brokered.connected() as alice:
            links_are_limited(alice, brokered)
        check_connections()
        report(brokered, clock, "links, sessions, and all connections again")
    brokered.reconcile()
    assert brokered.boots() == boots  # nothing fell over

    stored = brokered.stored()
    brokered.kill_brokers()
    eventually(lambda: brokered.boots() != boots, "the broker starts again", seconds=300)
    brokered.reconcile()
    eventually(lambda: brokered.stored() == stored, "every message is there", seconds=300)
    clock.report("killed, and all messages there again")
    fill_again(brokered, BROKERED, clock)
    report(brokered, clock, "at the end")


def keep_subscription(filled: FilledSpace, topic: str) -> None:
    with amqp.connected_to(
        filled.at,
        filled.authority.read_text(),
        filled.folder,
        "alice",
        rows.PASSWORD,
        timeout=60,
        container="keeper",
    ) as connection:
        receiver = connection.create_receiver(
            topic, name=topic.replace("/", "."), credit=0, options=DurableSubscription()
        )
        receiver.link.detach()
        routing_rig.flush(connection)


def fill_all(filled: FilledSpace, sizes: dict[str, list[int]], clock: Clock) -> None:
    """Fill each address; each message that does not fit is refused in a client's time."""
    for name, each in sizes.items():
        with filled.connected() as alice:
            for size in each:
                assert filled.fill(alice, name, size) == FULL
        sold = filled.address_plan(name).max_bytes or 0
        assert LEAST * sold <= filled.accepted[name] <= sold + MOST_BESIDE, name
        clock.report(f"{name}: {filled.accepted[name] / 2**20:.0f} of {sold / 2**20:.0f} MiB")
        assert filled.disk_mb() <= volume_mb(filled)


def volume_mb(filled: FilledSpace) -> int:
    """Return the MiB of a volume without the 200 MB that the broker keeps free."""
    return (filled.plan.broker_disk_gb or 0) * 1024 - 200


def report(filled: FilledSpace, clock: Clock, what: str) -> None:
    memory, disk = filled.peak_memory_mb(), filled.disk_mb()
    clock.report(
        f"{what}: at most {memory} of {filled.container_mb} MiB of memory, "
        f"{disk} of {volume_mb(filled)} MiB of disk"
    )
    assert memory <= filled.container_mb


def links_are_limited(connection: BlockingConnection, filled: FilledSpace) -> None:
    plan = filled.plan
    assert connection.conn is not None
    for make, most in (
        (connection.create_sender, plan.max_connection_senders),
        (connection.create_receiver, plan.max_connection_receivers),
    ):
        refused_after(partial(make, "small"), most or 0)
    sessions = [connection.conn.session() for _ in range(plan.max_connection_sessions or 0)]
    for session in sessions:  # one more than the plan sells: the links have one
        session.open()
    connection.wait(lambda: bool(sessions[-1].state & Endpoint.REMOTE_CLOSED), timeout=60)
    assert sessions[-1].remote_condition is not None
    assert sessions[-1].remote_condition.name == FULL
    assert all(session.state & Endpoint.REMOTE_ACTIVE for session in sessions[:-1])


def refused_after(make: Callable[..., object], most: int) -> None:
    for number in range(most):
        make(name=f"link-{number}")
    with pytest.raises(LinkDetached) as refusal:
        make(name="one more")
    assert refusal.value.condition == FULL


@contextmanager
def nearly_all_connections(filled: FilledSpace, spare: int) -> Iterator[Callable[[], None]]:
    """Open the connections that the plan sells but ``spare`` of each of its two users.

    Yields a function that opens the rest, sees the next one refused, and closes the rest again.
    """
    each, most = filled.plan.max_user_connections or 0, filled.plan.max_connections
    with ExitStack() as stack:
        crowds = [
            stack.enter_context(
                crowd.held(filled.at, filled.authority, user, rows.PASSWORD, count - spare)
            )
            for user, count in (("alice", each), ("bob", most - each))
        ]

        def check() -> None:
            assert [one.ended for one in crowds] == [{}, {}]
            assert sum(one.opened for one in crowds) == most - 2 * spare
            with ExitStack() as more:
                for user in ("alice", "bob"):  # the limit of one user, then that of all
                    rest = more.enter_context(
                        crowd.held(filled.at, filled.authority, user, rows.PASSWORD, spare)
                    )
                    assert (rest.opened, rest.ended) == (spare, {})
                    with (
                        pytest.raises(ConnectionException, match="resource-limit-exceeded"),
                        filled.connected(user),
                    ):
                        pass
                with_all_connections(filled)

        yield check


def with_all_connections(filled: FilledSpace) -> None:
    """The brokers answer their management, while they are full in every respect."""
    filled.stored()
    filled.reconcile()


def fill_again(filled: FilledSpace, every: dict[str, list[int]], clock: Clock) -> None:
    """Whatever is received leaves room for as much."""
    with filled.connected() as alice:
        for name, sizes in every.items():
            source = f"{name}::keeper.{name.replace('/', '.')}" if "/" in name else name
            receiver = alice.create_receiver(source, credit=50)
            count = 4 if sizes[0] >= FIVE_MB else 12_000_000 // sizes[0]
            for _ in range(count):
                receiver.receive(timeout=60)
                receiver.accept()
            receiver.close()
            sender = alice.create_sender(name)
            eventually(partial(is_taken, sender), f"{name} has room", seconds=60)
            sender.close()
    clock.report("received from each address, and sent again")


def is_taken(sender: BlockingSender) -> bool:
    delivery = routing_rig.hand_over(sender, Message(body=b"x" * MIDDLE, durable=True))
    return routing_rig.outcome(sender, delivery, 60) == Delivery.ACCEPTED


@pytest.fixture
def standard(
    auth: AuthProcess, real_ports: Ports, state_dir: Path, tmp_path: Path
) -> Iterator[FilledSpace]:
    """The largest plan with one router: the development router runs alone."""
    made = FilledSpace.make(real_ports, state_dir, tmp_path, "standard", "medium")
    for name in STANDARD:
        rows.make_address(made.space, name, size="medium")
    with pytest.raises(QuotaExceeded):
        rows.make_address(made.space, "more", size="small")
    made.reconcile()
    yield made
    address_spaces.delete(space=made.space, by=SYSTEM)
    patience.look(made.space.id, made.ports)


def test_the_largest_standard_space_of_one_router(standard: FilledSpace) -> None:
    """Ten queues take all credit of the router, and all bytes that a broker's volume sells."""
    clock, boots = Clock(), standard.boots()
    fill_all(standard, STANDARD, clock)
    report(standard, clock, "filled")
    with standard.connected() as alice:
        sender = alice.create_sender("q0")
        with pytest.raises((LinkDetached, ConnectionException)):
            sender.send(Message(body=b"x" * FIFTY_MB, durable=True))
    clock.report("a message of 50 MB refused")
    with nearly_all_connections(standard, spare=10) as check_connections:
        check_connections()
    report(standard, clock, "all connections")
    assert standard.boots() == boots

    stored = standard.stored()
    standard.kill_brokers()
    eventually(lambda: len(standard.boots().items() & boots.items()) == 1, "new brokers", 300)
    standard.reconcile()
    eventually(lambda: standard.stored() == stored, "every message is there", seconds=300)
    clock.report("brokers killed, and all messages there again")
    fill_again(standard, STANDARD, clock)
