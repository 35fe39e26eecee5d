"""What a space plan allows clients of a brokered space, on a real broker with the plugin."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from proton import ConnectionException, Delivery, Disposition, Endpoint, Message
from proton.utils import BlockingConnection, LinkDetached

from controlplane.core.address_types import AddressSettings
from tests.support.messaging import amqp, public_broker, routing_rig
from tests.support.messaging.public_broker import PublicBroker, user
from tests.support.waiting import eventually
from workers.messaging import management
from workers.messaging.brokers import driver
from workers.messaging.brokers.desired import (
    BrokerAddressKind,
    ClientLimits,
    DesiredAddress,
    DesiredBroker,
)

pytestmark = [pytest.mark.broker, pytest.mark.slow]

QUEUE, TOPIC = BrokerAddressKind.QUEUE, BrokerAddressKind.TOPIC
ADDRESSES = (
    DesiredAddress("orders", QUEUE, AddressSettings(max_bytes=3_000_000)),
    DesiredAddress("news", TOPIC, AddressSettings(max_bytes=3_000_000), subscriptions=("reader",)),
)
USERS = (user("alice", ("#", "send recv")), user("bob", ("#", "send recv")))
LIMITS = ClientLimits(
    message_bytes=1_000_000, user_connections=3, sessions=2, senders=3, receivers=2
)


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PublicBroker]:
    folder = tmp_path_factory.mktemp("limited")
    with public_broker.running(folder, ADDRESSES, USERS, client_limits=LIMITS) as made:
        yield made


@pytest.fixture
def alice(broker: PublicBroker) -> Iterator[BlockingConnection]:
    """A client that finds the queues empty."""
    with management.connected(broker.rigged.target, purpose="empty") as client:
        for queue in ("orders", "reader"):
            client.call(f"queue.{queue}", "removeAllMessages")
    with broker.connected(timeout=60) as connection:
        yield connection


def large_files(broker: PublicBroker) -> list[str]:
    folder = Path(broker.rigged.engine_layout.data_dir) / "large-messages"
    return sorted(path.name for path in folder.glob("*.msg"))


def body(size: int) -> Message:
    return Message(body=b"x" * size, durable=True)


def test_the_largest_message_is_announced_and_delivered(
    broker: PublicBroker, alice: BlockingConnection
) -> None:
    sender = alice.create_sender("orders")

    assert sender.link.remote_max_message_size == LIMITS.message_bytes
    assert sender.send(body(999_000)).remote_state == Delivery.ACCEPTED
    receiver = alice.create_receiver("orders", credit=1)
    assert amqp.receive_body(receiver) == b"x" * 999_000
    receiver.accept()
    receiver.close()
    eventually(lambda: large_files(broker) == [], "its file is deleted")


@pytest.mark.parametrize("size", [1_000_001, 5_000_000, 50_000_000])
def test_a_larger_message_ends_its_link_and_leaves_no_file(
    broker: PublicBroker, alice: BlockingConnection, size: int
) -> None:
    other = alice.create_sender("news")
    sender = alice.create_sender("orders")

    with pytest.raises(LinkDetached, match="message-size-exceeded"):
        sender.send(body(size))

    assert other.send(body(10)).remote_state == Delivery.ACCEPTED  # the connection goes on
    eventually(lambda: large_files(broker) == [], "what arrived of it is deleted")


@pytest.mark.parametrize("size", [100, pytest.param(16_000, marks=pytest.mark.drill)])
def test_a_small_limit_applies_to_messages_that_are_no_files(tmp_path: Path, size: int) -> None:
    limits = ClientLimits(message_bytes=size)
    with (
        public_broker.running(tmp_path, ADDRESSES, USERS, client_limits=limits) as small,
        small.connected() as connection,
    ):
        fits, over = (connection.create_sender("orders", name=name) for name in ("a", "b"))
        assert fits.send(Message(body="x")).remote_state == Delivery.ACCEPTED
        with pytest.raises(LinkDetached, match="message-size-exceeded"):
            over.send(body(size))


@pytest.mark.parametrize("address", ["orders", "news"])
def test_large_messages_count_against_the_size_of_the_address(
    broker: PublicBroker, alice: BlockingConnection, address: str
) -> None:
    sender = alice.create_sender(address)
    outcomes = []
    for _ in range(5):
        delivery = routing_rig.hand_over(sender, body(900_000))
        outcomes.append(routing_rig.outcome(sender, delivery, 60))

    assert outcomes == [Delivery.ACCEPTED] * 3 + [Delivery.REJECTED] * 2
    assert routing_rig.condition_of(delivery) == "amqp:resource-limit-exceeded"
    eventually(lambda: len(large_files(broker)) == 3, "the refused ones leave no file")
    source = "news::reader" if address == "news" else address
    receiver = alice.create_receiver(source, credit=1)
    receiver.receive()
    receiver.accept()
    receiver.close()
    eventually(lambda: len(large_files(broker)) == 2, "one is received")
    assert sender.send(body(900_000)).remote_state == Delivery.ACCEPTED


def test_connections_of_one_user_are_limited(broker: PublicBroker) -> None:
    with ExitStack() as stack:
        for _ in range(3):
            stack.enter_context(broker.connected())
        with pytest.raises(ConnectionException, match="connections of one user"):
            stack.enter_context(broker.connected())

        amqp.send(stack.enter_context(broker.connected("bob")), "news", "unharmed")
    eventually(lambda: can_connect(broker), "alice has left")


def can_connect(broker: PublicBroker) -> bool:
    try:
        with broker.connected():
            return True
    except ConnectionException:
        return False


def test_links_of_one_connection_are_limited(
    broker: PublicBroker, alice: BlockingConnection
) -> None:
    senders = [alice.create_sender("orders", name=f"s{n}") for n in range(3)]
    receivers = [alice.create_receiver("orders", name=f"r{n}") for n in range(2)]

    with pytest.raises(LinkDetached, match="3 senders"):
        alice.create_sender("orders", name="more")
    with pytest.raises(LinkDetached, match="2 receivers"):
        alice.create_receiver("orders", name="more")

    senders[0].close()
    receivers[0].close()
    assert alice.create_sender("orders", name="again").send(body(1)).remote_state
    assert amqp.receive_body(alice.create_receiver("orders", name="again")) == b"x"


def test_sessions_of_one_connection_are_limited(alice: BlockingConnection) -> None:
    assert alice.conn is not None
    sessions = [alice.conn.session() for _ in range(3)]
    for session in sessions:
        session.open()
    alice.wait(lambda: bool(sessions[-1].state & Endpoint.REMOTE_CLOSED))

    assert "2 sessions" in str(sessions[-1].remote_condition)
    assert all(session.state & Endpoint.REMOTE_ACTIVE for session in sessions[:2])


@pytest.mark.parametrize(
    "which", ["connection_rate", pytest.param("user_rate", marks=pytest.mark.drill)]
)
def test_who_sends_too_fast_gets_no_credit_and_others_are_unharmed(
    tmp_path: Path, which: str
) -> None:
    limits = ClientLimits(**{which: 10})
    many = 60
    with (
        public_broker.running(tmp_path, ADDRESSES, USERS, client_limits=limits) as paced,
        paced.connected(timeout=60) as fast,
        paced.connected("bob", timeout=60) as calm,
    ):
        sender, other = fast.create_sender("orders"), calm.create_sender("news")
        deliveries = [routing_rig.hand_over(sender, Message(body=str(n))) for n in range(many)]
        fast.wait(lambda: bool(deliveries[10].remote_state))

        assert not deliveries[-1].remote_state  # it has still no credit for all
        assert other.send(Message(body="calm")).remote_state == Delivery.ACCEPTED
        fast.wait(lambda: all(one.remote_state for one in deliveries), timeout=60)
        assert {one.remote_state for one in deliveries} == {Disposition.ACCEPTED}


def test_a_throttle_lowers_connections_and_rates_of_a_running_broker_and_ends(
    tmp_path: Path,
) -> None:
    limits = ClientLimits(user_connections=20, connection_rate=100)
    with public_broker.running(
        tmp_path, ADDRESSES, USERS, max_connections=20, client_limits=limits
    ) as broker:
        desired = broker.rigged.desired
        boot = driver.find_incarnation(broker.rigged.target)
        with broker.connected(timeout=60) as open_before:
            amqp.send(open_before, "orders", "accepted before")
            throttle(broker, replace(desired, throttle_percent=10))
            eventually(lambda: is_full_with(broker, 1), "of 20 connections 2 are left")
            sender = open_before.create_sender("orders")
            # The credit that a sender has already is that of a second of the whole rate.
            deliveries = [routing_rig.hand_over(sender, Message(body=str(n))) for n in range(130)]
            open_before.wait(lambda: bool(deliveries[10].remote_state))
            assert not deliveries[-1].remote_state  # 10 messages a second are left of 100
            open_before.wait(lambda: all(one.remote_state for one in deliveries), timeout=60)
            assert {one.remote_state for one in deliveries} == {Disposition.ACCEPTED}

            throttle(broker, desired)
            eventually(lambda: not is_full_with(broker, 3), "the whole limits count again")
            received = amqp.receive(open_before, "orders", 131)
        assert received[0] == "accepted before"
        assert driver.find_incarnation(broker.rigged.target) == boot  # without a restart


def throttle(broker: PublicBroker, desired: DesiredBroker) -> None:
    broker.rigged.desired = desired
    broker.rigged.hold(*ADDRESSES)


def is_full_with(broker: PublicBroker, count: int) -> bool:
    """Return whether a connection is refused while ``count`` more than the open one are open."""
    with ExitStack() as stack:
        try:
            for _ in range(count):
                stack.enter_context(broker.connected("bob"))
        except ConnectionException:
            return False
        try:
            stack.enter_context(broker.connected("bob"))
        except ConnectionException:
            return True
    return False
