"""Several routers of one space, each a real one: what goes between them, and what survives one."""

import itertools
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest
from proton import Delivery, Message, Timeout
from proton.reactor import DurableSubscription
from proton.utils import BlockingConnection, BlockingReceiver, LinkDetached

from tenants.router_patches import Patch
from tests.support.messaging import broker_rig, mesh_rig
from tests.support.messaging import routing_rig as rigs
from tests.support.messaging.broker_rig import RiggedBroker
from tests.support.messaging.routing_rig import Rig, known
from tests.support.waiting import eventually
from workers.messaging import certificates
from workers.messaging.brokers.desired import BrokerAddressKind, DesiredAddress
from workers.messaging.routers import driver
from workers.messaging.routers.desired import OnBroker, RoutedAddress, RouterAddressKind

pytestmark = [pytest.mark.router, pytest.mark.broker, pytest.mark.slow]

ON_BROKER = [OnBroker("broker-0")]
ADDRESSES = [
    RoutedAddress("calls", RouterAddressKind.ANYCAST),
    RoutedAddress("weather", RouterAddressKind.MULTICAST),
    RoutedAddress("orders", RouterAddressKind.QUEUE, ON_BROKER),
    RoutedAddress("news", RouterAddressKind.TOPIC, ON_BROKER),
    RoutedAddress("news::desk", RouterAddressKind.SUBSCRIPTION, ON_BROKER),
]
HELD = [
    DesiredAddress("orders", BrokerAddressKind.QUEUE),
    DesiredAddress("news", BrokerAddressKind.TOPIC, subscriptions=["desk"]),
]


@pytest.fixture(scope="module")
def running(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[list[Rig], list[RiggedBroker]]]:
    with mesh_rig.mesh(tmp_path_factory.mktemp("mesh"), 3) as members:
        members[0].auth.set_users(
            known("anna", "secret", {"#": ("send", "recv")}),
            addresses=[address.address for address in ADDRESSES],
        )
        with broker_rig.brokers(members[0], 1, HELD) as brokers:
            yield members, brokers


@pytest.fixture
def routers(running: tuple[list[Rig], list[RiggedBroker]]) -> Iterator[list[Rig]]:
    members, brokers = running
    mesh_rig.start(members, ADDRESSES, [broker.at for broker in brokers])
    yield members
    for member in members:
        member.close_clients()
        member.kill()


def anna(router: Rig) -> BlockingConnection:
    return router.connect("anna", "secret", timeout=60)


def exchange(sending: Rig, receiving: Rig, address: str, count: int = 20) -> None:
    receiver = anna(receiving).create_receiver(address, credit=count + 1)
    sender = anna(sending).create_sender(address)
    rigs.deliver(sender, receiver, "first", stored=address == "orders")
    posted = [rigs.post(sender, number, durable=True) for number in range(count)]
    assert sorted(rigs.take(receiver, count)) == list(range(count))
    assert {rigs.outcome(sender, delivery) for delivery in posted} == {Delivery.ACCEPTED}
    receiver.connection.close()  # else it would take its share of the next exchange
    sender.connection.close()


@pytest.mark.parametrize("address", ["calls", "weather", "orders", "news"])
def test_clients_of_different_routers_reach_each_other(routers: list[Rig], address: str) -> None:
    exchange(routers[1], routers[2], address)
    exchange(routers[0], routers[1], address)


def test_each_router_says_how_many_others_it_reaches(routers: list[Rig]) -> None:
    def reached(router: Rig) -> int | None:
        return driver.snapshot(router.target, addresses=()).health.neighbors

    eventually(lambda: [reached(router) for router in routers] == [2, 2, 2], "all are reached")
    routers[2].kill()
    eventually(lambda: [reached(router) for router in routers[:2]] == [1, 1], "one is missed")


def test_a_router_says_how_many_messages_wait_for_a_slow_receiver(routers: list[Rig]) -> None:
    receiving = anna(routers[0])
    receiving.create_receiver("calls", credit=2)
    sending = anna(routers[0])
    sender = sending.create_sender("calls")
    sending.wait(lambda: sender.link.credit > 10, timeout=60)
    for number in range(7):
        rigs.post(sender, number)
    rigs.flush(sending)

    def waiting() -> int | None:
        return driver.snapshot(routers[0].target, addresses=()).health.undelivered

    eventually(lambda: waiting() == 5, "five messages wait")


def test_a_question_is_answered_by_a_client_of_another_router(routers: list[Rig]) -> None:
    asking, service = anna(routers[1]), anna(routers[2])
    served = service.create_receiver("calls", credit=1)
    answers = asking.create_receiver(None, dynamic=True, credit=1)
    question = asking.create_sender("calls")
    asking.wait(lambda: question.link.credit > 0, timeout=60)

    question.link.send(Message(body="?", reply_to=answers.link.remote_source.address))
    rigs.flush(asking)
    reply_to = served.receive(timeout=60).reply_to
    service.create_sender(reply_to).send(Message(body="!"))

    assert answers.receive(timeout=60).body == "!"


@pytest.mark.parametrize("is_anonymous", [True, False])
def test_a_temporary_queue_is_reached_through_another_router(
    routers: list[Rig], is_anonymous: bool
) -> None:
    asking, service = anna(routers[1]), anna(routers[2])
    name = rigs.temporary_queue(asking)
    answers = asking.create_receiver(name, credit=1)
    names = (f"attempt {number}" for number in itertools.count())

    def is_answered() -> bool:
        """Routers tell each other of a new name within a second; until then it is unknown."""
        try:
            sender = service.create_sender(None if is_anonymous else name, name=next(names))
            sender.link.send(Message(address=name, body="!"))
            rigs.flush(service)
            return bool(answers.receive(timeout=1).body == "!")
        except (LinkDetached, Timeout):
            return False

    eventually(is_answered, "an answer came through the other router")


@pytest.mark.parametrize("address", ["calls", "orders", "news"])
def test_the_others_go_on_when_a_router_is_killed(routers: list[Rig], address: str) -> None:
    routers[0].kill()
    killed = time.monotonic()

    exchange(routers[1], routers[2], address)

    print(f"{address}: {time.monotonic() - killed:.2f} s after the kill")  # noqa: T201


def test_a_killed_router_is_joined_again(routers: list[Rig]) -> None:
    routers[0].kill()

    routers[0].relaunch()

    eventually(lambda: mesh_rig.is_joined(routers), "joined again")
    exchange(routers[0], routers[2], "calls")


def test_a_durable_subscription_is_found_again_through_another_router(routers: list[Rig]) -> None:
    routers[0].require(Patch.CONTAINER_ID)
    first = subscribe(routers[0])
    first.link.detach()
    rigs.settle_down(first.connection)
    first.connection.close()

    anna(routers[1]).create_sender("news").send(Message(body="missed", durable=True))
    second = subscribe(routers[2])

    assert rigs.take(second, 1) == ["missed"]
    second.close()


def subscribe(router: Rig) -> BlockingReceiver:
    """Attach as a durable subscriber that is known by its container and its link's name."""
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


def test_a_router_of_another_space_is_not_joined(routers: list[Rig]) -> None:
    """The mesh listener takes certificates of the space's own authority only."""
    now = rigs.now()
    foreign = certificates.create_authority("another space", now)
    stranger = routers[2]
    stranger.desired = replace(
        stranger.desired, client=certificates.issue_client(foreign, "waypost-router", now)
    )

    stranger.restart()

    eventually(
        lambda: (
            set(driver.converge(stranger.target, stranger.desired).unjoined)
            == {"router-0", "router-1"}
        ),
        "both refuse it",
    )
