"""Stored addresses of a `standard` space: a router in front of real Artemis brokers."""

import json
from collections.abc import Iterator
from contextlib import suppress

import pytest
from proton import (
    Delivery,
    Endpoint,
    Link,
    LinkException,
    Message,
    Terminus,
    Timeout,
    symbol,
)
from proton.reactor import DurableSubscription, ReceiverOption, SenderOption
from proton.utils import BlockingConnection, BlockingReceiver, BlockingSender

from controlplane.core.address_types import AddressSettings
from tests.support.messaging import broker_rig
from tests.support.messaging import routing_rig as rigs
from tests.support.messaging.broker_rig import RiggedBroker
from tests.support.messaging.routing_rig import Rig, known
from tests.support.waiting import eventually
from workers.messaging import management
from workers.messaging.brokers import driver as broker_driver
from workers.messaging.brokers.desired import BrokerAddressKind, DesiredAddress
from workers.messaging.routers import driver
from workers.messaging.routers.desired import OnBroker, RoutedAddress, RouterAddressKind

pytestmark = [pytest.mark.router, pytest.mark.broker, pytest.mark.slow]

BOTH = [OnBroker("broker-0"), OnBroker("broker-1")]
HELD = [
    DesiredAddress("orders", BrokerAddressKind.QUEUE),
    DesiredAddress("large", BrokerAddressKind.QUEUE),
    DesiredAddress("parts", BrokerAddressKind.QUEUE),
    DesiredAddress("small", BrokerAddressKind.QUEUE, AddressSettings(max_bytes=50_000)),
    DesiredAddress("news", BrokerAddressKind.TOPIC, subscriptions=["desk"]),
]
ROUTED = [
    RoutedAddress("orders", RouterAddressKind.QUEUE, BOTH[:1]),
    RoutedAddress("large", RouterAddressKind.QUEUE, BOTH[:1]),
    RoutedAddress("parts", RouterAddressKind.QUEUE, BOTH),
    RoutedAddress("small", RouterAddressKind.QUEUE, BOTH[:1]),
    RoutedAddress("news", RouterAddressKind.TOPIC, BOTH[:1]),
    RoutedAddress("news::desk", RouterAddressKind.SUBSCRIPTION, BOTH[:1]),
]


@pytest.fixture(scope="module", params=rigs.ENGINES)
def space(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Rig, list[RiggedBroker]]]:
    with rigs.rig(tmp_path_factory.mktemp("space"), request.param) as router:
        router.auth.set_users(
            known("anna", "secret", {"#": ("send", "recv")}),
            known("bert", "secret", {"nothing": ("recv",)}),
            addresses=[routed.address for routed in ROUTED],
        )
        with broker_rig.brokers(router, 2, HELD) as running:
            router.start(ROUTED, [broker.at for broker in running])
            yield router, running


@pytest.fixture
def router(space: tuple[Rig, list[RiggedBroker]]) -> Iterator[Rig]:
    yield space[0]
    space[0].close_clients()


@pytest.fixture
def brokers(space: tuple[Rig, list[RiggedBroker]]) -> list[RiggedBroker]:
    return space[1]


def anna(router: Rig) -> BlockingConnection:
    return router.connect("anna", "secret", timeout=60)


def drain(receiver: BlockingReceiver, seconds: float = 1.0) -> list[object]:
    """Take everything that is there."""
    rigs.settle_down(receiver.connection, seconds=seconds)
    return rigs.take(receiver, rigs.waiting(receiver))


def test_queue_stores_until_somebody_comes(router: Rig) -> None:
    sending = anna(router)
    sender = sending.create_sender("orders")
    for number in range(20):
        assert sender.send(Message(body=number, durable=True)).remote_state == Delivery.ACCEPTED
    sending.close()

    assert rigs.take(anna(router).create_receiver("orders", credit=20), 20) == list(range(20))


def transit(broker: RiggedBroker) -> dict[str, int]:
    """Return what the broker plugin knows of large messages that the broker sends, in bytes."""
    with management.connected(broker.target, purpose="test") as client:
        found: dict[str, int] = json.loads(client.call("waypost.transit", "described"))
    return found


def test_large_messages_are_read_into_the_heap_within_a_bound(
    router: Rig, brokers: list[RiggedBroker]
) -> None:
    """The router has credit for all of them at once, and its receiver settles none at first."""
    # No other test reads this address. After its last consumer has left, a router uses its credit
    # up, and releases what comes. What it releases while the next consumer comes loses its order.
    sender = anna(router).create_sender("large")
    sizes = [4_000_000 + number for number in range(6)]
    for size in sizes:
        message = Message(body=b"x" * size, durable=True)
        assert sender.send(message).remote_state == Delivery.ACCEPTED
    sender.send(Message(body=b"small", durable=True))  # overtakes none that waits

    receiver = anna(router).create_receiver("large", credit=7)
    receiver.connection.wait(lambda: rigs.waiting(receiver) == 7, timeout=60)

    assert [len(body) for body in rigs.take(receiver, 7)] == [*sizes, len(b"small")]
    eventually(lambda: transit(brokers[0])["now"] == 0, "the broker has sent all")
    after = transit(brokers[0])
    assert max(sizes) < after["most"] <= after["bound"] < sum(sizes)
    assert after["waiting"] == 0


def test_a_drained_receiver_has_no_credit_left(router: Rig) -> None:
    receiver = anna(router).create_receiver("orders", credit=0)

    receiver.link.drain(5)

    receiver.connection.wait(lambda: receiver.link.credit == 0, timeout=60)
    assert rigs.waiting(receiver) == 0
    receiver.link.flow(1)
    rigs.deliver(anna(router).create_sender("orders"), receiver, "later", stored=True)


def test_queue_gives_back_what_is_released_and_counts_what_is_modified(router: Rig) -> None:
    sender = anna(router).create_sender("orders")
    sender.send(Message(body="again", durable=True))
    receiver = anna(router).create_receiver("orders", credit=1)

    receiver.receive(timeout=60)
    receiver.release(delivered=False)
    second = receiver.receive(timeout=60)
    rigs.fail(receiver)
    third = receiver.receive(timeout=60)
    receiver.accept()
    rigs.flush(receiver.connection)

    assert (second.body, second.delivery_count) == ("again", 0)
    assert (third.body, third.delivery_count) == ("again", 1)


def test_queue_with_two_partitions_loses_and_doubles_nothing(router: Rig) -> None:
    sending = anna(router)
    sender = sending.create_sender("parts")
    posted = [rigs.post(sender, number, durable=True) for number in range(200)]
    assert {rigs.outcome(sender, delivery) for delivery in posted} == {Delivery.ACCEPTED}

    got = rigs.take(anna(router).create_receiver("parts", credit=200), 200)

    assert sorted(got) == list(range(200))


def test_topic_copies_to_each_subscriber(router: Rig) -> None:
    receivers = [anna(router).create_receiver("news", credit=10) for _ in range(2)]

    anna(router).create_sender("news").send(Message(body="it rains", durable=True))

    assert [rigs.take(receiver, 1) for receiver in receivers] == [["it rains"]] * 2
    drain(anna(router).create_receiver("news::desk", credit=100))


def test_topic_keeps_for_a_durable_subscriber_by_its_link_name(router: Rig) -> None:
    def subscribe() -> BlockingReceiver:
        connection = BlockingConnection(
            f"amqps://{rigs.HOST}:{router.engine_layout.public_port}",
            timeout=20,
            ssl_domain=router.domain(),
            user="anna",
            password="secret",
            allowed_mechs="PLAIN",
            container_id="laptop",
            reconnect=False,
        )
        router.connections.append(connection)
        return connection.create_receiver(
            "news", credit=10, name="evening", options=DurableSubscription()
        )

    first = subscribe()
    first.link.detach()
    rigs.settle_down(first.connection)
    first.connection.close()

    anna(router).create_sender("news").send(Message(body="missed", durable=True))
    second = subscribe()

    assert rigs.take(second, 1) == ["missed"]
    assert second.link.remote_source.durability == Terminus.DELIVERIES
    # A close, unlike a detach, ends the subscription, also one of a JMS client.
    second.close()
    rigs.settle_down(second.connection)
    anna(router).create_sender("news").send(Message(body="nobody waits", durable=True))
    third = subscribe()
    with pytest.raises(Timeout):
        third.receive(timeout=3)
    third.close()
    drain(anna(router).create_receiver("news::desk", credit=100))


def test_a_full_queue_refuses_and_works_again_once_it_is_read(router: Rig) -> None:
    sender = anna(router).create_sender("small")
    posted = [rigs.post(sender, b"x" * 1000, durable=True) for _ in range(200)]
    outcomes = [rigs.outcome(sender, delivery) for delivery in posted]
    refused = [delivery for delivery in posted if delivery.remote_state == Delivery.REJECTED]

    stored = outcomes.count(Delivery.ACCEPTED)
    assert {rigs.condition_of(delivery) for delivery in refused} == {"amqp:resource-limit-exceeded"}
    assert stored + len(refused) == 200
    assert 10 < stored < 200
    rigs.take(anna(router).create_receiver("small", credit=stored), stored)
    eventually(lambda: is_accepted(sender), "there is room again")
    drain(anna(router).create_receiver("small", credit=100))


def is_accepted(sender: BlockingSender) -> bool:
    return rigs.outcome(sender, rigs.post(sender, "one more", durable=True)) == Delivery.ACCEPTED


class DynamicSource(ReceiverOption):
    """A receiver of a dynamic node that the router is to make at ``address``."""

    def __init__(self, address: str) -> None:
        self._address = address

    def apply(self, link: Link) -> None:
        link.source.dynamic = True
        link.source.properties.put_dict({symbol("x-opt-qd.address"): self._address})


class DynamicTarget(SenderOption):
    """A sender to a dynamic node that the router is to make at ``address``."""

    def __init__(self, address: str) -> None:
        self._address = address

    def apply(self, link: Link) -> None:
        link.target.dynamic = True
        link.target.properties.put_dict({symbol("x-opt-qd.address"): self._address})


@pytest.mark.parametrize("sends", [True, False])
@pytest.mark.parametrize("user", ["anna", "bert"])
@pytest.mark.parametrize("address", ["news", "$waypost.probe.topic", "orders", "news::desk"])
def test_a_dynamic_attach_by_address_makes_no_queue(
    router: Rig, brokers: list[RiggedBroker], address: str, user: str, sends: bool
) -> None:
    """The router asks no permission for it, so the broker must refuse: it would be unmetered."""
    before = list_queues(brokers[0])
    connection = router.connect(user, "secret", timeout=60)

    with suppress(LinkException):  # refused, or answered without a node
        if sends:
            connection.create_sender(None, options=DynamicTarget(address))
        else:
            connection.create_receiver(None, options=DynamicSource(address))
        rigs.settle_down(connection, seconds=0.5)

    # Queues of tests before this one may go meanwhile; the one that comes is of the question.
    assert len(list_queues(brokers[0]) - before) == 1


def list_queues(broker: RiggedBroker) -> set[str]:
    """Return the names of the queues, that of this question's replies included."""
    with management.connected(broker.target, purpose="test") as client:
        # Not ``listQueues``: it fails if a queue of a test before this one goes meanwhile.
        return set(client.read("broker", "QueueNames"))


def test_subscription_is_consumed_by_its_own_name(router: Rig) -> None:
    anna(router).create_sender("news").send(Message(body="for the desk", durable=True))

    assert rigs.take(anna(router).create_receiver("news::desk", credit=10), 1) == ["for the desk"]


def test_a_link_that_reads_nothing_is_recreated(router: Rig, brokers: list[RiggedBroker]) -> None:
    receiver = anna(router).create_receiver("orders", credit=10)
    at, before = brokers[0].at.name, consumers(brokers[0], "orders")

    recreated = driver.reattach(router.target, router.desired, unread={at: {"orders", "unknown"}})

    assert recreated == ["orders"]
    eventually(lambda: consumers(brokers[0], "orders") - before, "a new consumer")
    anna(router).create_sender("orders").send(Message(body="stored", durable=True))
    assert rigs.take(receiver, 1) == ["stored"]


def test_a_link_that_is_down_is_left_to_come_up_by_itself(
    router: Rig, brokers: list[RiggedBroker]
) -> None:
    brokers[1].kill()
    eventually(
        lambda: driver.converge(router.target, router.desired).pending, "it is noticed", seconds=15
    )

    recreated = driver.reattach(
        router.target, router.desired, unread={brokers[1].at.name: {"parts"}}
    )

    brokers[1].start()
    eventually(lambda: not driver.converge(router.target, router.desired).pending, "all up")
    assert recreated == []


def test_a_queue_that_nobody_reads_is_told(router: Rig, brokers: list[RiggedBroker]) -> None:
    unread = broker_driver.list_unread(brokers[1].target)

    assert "orders" in unread  # routed to the other broker only
    assert "parts" not in unread


def consumers(broker: RiggedBroker, queue: str) -> set[str]:
    with management.connected(broker.target, purpose="test") as client:
        rows = json.loads(client.call("broker", "listConsumers", "", 1, 1000))["data"]
    return {f"{row['session']} {row['id']}" for row in rows if row["queue"] == queue}


@pytest.mark.drill
def test_killed_broker_keeps_what_was_accepted_and_comes_back(
    router: Rig, brokers: list[RiggedBroker]
) -> None:
    sender = anna(router).create_sender("orders")
    for number in range(100):
        sender.send(Message(body=number, durable=True))

    brokers[0].kill()
    waiting = anna(router)
    late = waiting.create_sender("orders")
    rigs.settle_down(waiting)
    no_credit = late.link.credit
    brokers[0].start()
    receiver = anna(router).create_receiver("orders", credit=100)
    got = rigs.take(receiver, 100, timeout=60)

    assert no_credit == 0
    assert got == list(range(100))
    assert late.send(Message(body="after", durable=True), timeout=60).remote_state == 36
    assert rigs.take(receiver, 1) == ["after"]


def test_restarted_router_serves_from_its_file(router: Rig) -> None:
    anna(router).create_sender("orders").send(Message(body="before", durable=True))
    router.close_clients()

    router.restart()

    receiver = anna(router).create_receiver("orders", credit=1)
    assert rigs.take(receiver, 1) == ["before"]
    assert anna(router).create_receiver("news", credit=1).link.state & Endpoint.REMOTE_ACTIVE
