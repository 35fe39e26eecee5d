"""Questions and answers over temporary queues of a brokered space, and what they do not open."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from proton import Delivery, Message
from proton.utils import BlockingConnection, LinkDetached

from tests.support.foreign import Job, Told, node, proton_patterns
from tests.support.foreign.jms import program as jms
from tests.support.foreign.jms.program import Ended
from tests.support.messaging import public_broker, routing_rig
from tests.support.messaging.public_broker import PASSWORD, PublicBroker, user
from tests.support.waiting import eventually
from workers.messaging import management
from workers.messaging.brokers import driver
from workers.messaging.brokers.desired import BrokerAddressKind, DesiredAddress
from workers.messaging.brokers.snapshot import MeteredAddress
from workers.messaging.brokers.tables import BrokerTables
from workers.messaging.management import Refused

pytestmark = [pytest.mark.broker, pytest.mark.slow]

MOST = 1000  # reply queues
CALLS = DesiredAddress("calls", BrokerAddressKind.QUEUE)
USERS = (
    user("alice", ("#", "send recv")),
    user("asks", ("calls", "send")),
    user("serves", ("calls", "recv")),
)


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PublicBroker]:
    with public_broker.running(tmp_path_factory.mktemp("replies"), [CALLS], USERS) as made:
        yield made


@pytest.fixture
def asks(broker: PublicBroker) -> Iterator[BlockingConnection]:
    with broker.connected("asks") as connection:
        yield connection


@pytest.fixture
def serves(broker: PublicBroker) -> Iterator[BlockingConnection]:
    with broker.connected("serves") as connection:
        yield connection


@pytest.fixture
def job(broker: PublicBroker) -> Job:
    ca = broker.folder / "foreign.pem"
    ca.write_text(broker.rigged.desired.authority_pem)
    return Job(*broker.at, ca, "alice", PASSWORD, "calls")


def temporary(broker: PublicBroker) -> set[str]:
    """Return the temporary addresses of clients: not the one through which this asks."""
    with management.connected(broker.rigged.target, purpose="look") as client:
        queues = BrokerTables(client).rows("listQueues")
    return {row["name"] for row in queues if row["user"] in {one.name for one in USERS}}


def has_none(broker: PublicBroker) -> bool:
    try:
        return not temporary(broker)
    except Refused:  # too many vanish while the broker lists them
        return False


@pytest.mark.parametrize("ask", [node.ask, proton_patterns.ask], ids=["rhea", "proton"])
def test_a_question_is_answered(job: Job, ask: Callable[[Job], Told]) -> None:
    assert ask(job) == Told(job.messages, tuple(f"answer to {body}" for body in job.bodies), "")


def test_a_question_of_a_java_client_is_answered(
    job: Job, tmp_path_factory: pytest.TempPathFactory
) -> None:
    ended = jms.compiled(tmp_path_factory.mktemp("jms")).run("ask", job, "queue:calls")

    answers = tuple(f"answer to {body}" for body in job.bodies)
    assert ended == Ended(job.messages, answers, (), "", "")


def test_who_only_sends_is_answered_by_who_only_receives(
    broker: PublicBroker, asks: BlockingConnection, serves: BlockingConnection
) -> None:
    """And nothing of it is metered as an address, or stays."""
    before = temporary(broker)
    serving = serves.create_sender(None)
    answers = asks.create_receiver(None, dynamic=True, credit=1)
    name = answers.link.remote_source.address
    asks.create_sender("calls").send(Message(body="?", reply_to=name))
    served = serves.create_receiver("calls", credit=1)
    reply_to = served.receive(timeout=60).reply_to
    served.accept()
    assert temporary(broker) - before == {name}

    serving.send(Message(address=reply_to, body="!"))

    assert routing_rig.take(answers, 1) == ["!"]
    metered = driver.snapshot(broker.rigged.target, addresses=[MeteredAddress("calls", "queue")])
    assert {counted.address for counted in metered.addresses} == {"calls"}
    # What looks for clients that lost their permissions takes no offense at it.
    assert driver.disconnect_clients(broker.rigged.target, broker.rigged.desired) == 0
    answers.close()
    eventually(lambda: name not in temporary(broker), "the queue ends with its link")
    assert name not in driver.list_unknown(broker.rigged.target, broker.rigged.desired).empty


def test_only_who_made_it_reads_it(asks: BlockingConnection, serves: BlockingConnection) -> None:
    answers = asks.create_receiver(None, dynamic=True, credit=5)
    name = answers.link.remote_source.address

    for connection in (serves, asks):
        with pytest.raises(LinkDetached) as refusal:
            connection.create_receiver("calls" if connection is asks else name, name="mine")
        assert refusal.value.condition == "amqp:unauthorized-access"

    serves.create_sender(name).send(Message(body="still there"))
    assert routing_rig.take(answers, 1) == ["still there"]


INTERNAL = ["activemq.management", "activemq.notifications", "$waypost.probe.queue", "nowhere"]


@pytest.mark.parametrize("address", INTERNAL)
def test_nothing_else_is_open(broker: PublicBroker, address: str) -> None:
    with broker.connected() as alice:
        for attach in (alice.create_receiver, alice.create_sender):
            with pytest.raises(LinkDetached, match=r"unauthorized-access|not-found|not authorized"):
                attach(address)
        sender = alice.create_sender(None)
        posted = routing_rig.hand_over(sender, Message(address=address, body="no"))
        assert routing_rig.outcome(sender, posted) == Delivery.REJECTED


def test_the_queue_of_our_own_worker_takes_nothing(broker: PublicBroker) -> None:
    with management.connected(broker.rigged.target, purpose="own") as client:
        rows = BrokerTables(client).rows("listQueues")
        (own,) = {row["name"] for row in rows if row["user"] == "waypost-control"}
        with broker.connected() as alice:
            sender = alice.create_sender(None)
            posted = routing_rig.hand_over(sender, Message(address=own, body="no"))
            assert routing_rig.outcome(sender, posted) == Delivery.REJECTED
            with pytest.raises(LinkDetached, match="unauthorized-access"):
                alice.create_receiver(own)


def test_a_queue_and_their_number_have_limits(broker: PublicBroker) -> None:
    with broker.connected() as alice:
        full = alice.create_receiver(None, dynamic=True, credit=0)
        sender = alice.create_sender(full.link.remote_source.address)
        outcomes = [
            routing_rig.outcome(sender, routing_rig.hand_over(sender, Message(body="x" * 300_000)))
            for _ in range(6)
        ]
        assert outcomes[0] == Delivery.ACCEPTED
        assert outcomes[-1] == Delivery.REJECTED

        for number in range(MOST - 1):
            alice.create_receiver(None, name=f"r{number}", dynamic=True)
        with pytest.raises(LinkDetached, match="at most 1000 reply queues"):
            alice.create_receiver(None, name="one more", dynamic=True)
    eventually(lambda: has_none(broker), "all end with their connection")
    with broker.connected() as alice:
        assert alice.create_receiver(None, dynamic=True)


def test_withdrawn_sending_withdraws_answers(
    broker: PublicBroker, asks: BlockingConnection, serves: BlockingConnection
) -> None:
    name = asks.create_receiver(None, dynamic=True).link.remote_source.address
    desired = broker.rigged.desired
    sender = serves.create_sender(None)
    broker.rigged.desired = replace(desired, send_withdrawn=True)
    broker.rigged.hold(CALLS)
    try:
        posted = routing_rig.hand_over(sender, Message(address=name, body="!"))
        assert routing_rig.outcome(sender, posted) == Delivery.REJECTED
    finally:
        broker.rigged.desired = desired
        broker.rigged.hold(CALLS)
