"""What AMQP clients may expect of the addresses of a brokered space: docs/semantics.md.

One broker serves the module; each test uses addresses of its own.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise

import pytest
from proton import Link, Message, Terminus, symbol
from proton.reactor import DurableSubscription, ReceiverOption, Selector
from proton.utils import BlockingConnection, BlockingReceiver, LinkDetached

from controlplane.core.address_types import AddressSettings
from tests.support.foreign import Job, Told, node, plain_proton
from tests.support.foreign.jms import program as jms
from tests.support.foreign.jms.program import Program
from tests.support.messaging import amqp, public_broker, routing_rig
from tests.support.messaging.public_broker import PASSWORD, PublicBroker, user
from workers.messaging.brokers.desired import BrokerAddressKind, DesiredAddress

pytestmark = [pytest.mark.broker, pytest.mark.slow]

QUEUE, TOPIC = BrokerAddressKind.QUEUE, BrokerAddressKind.TOPIC
TWICE = AddressSettings(max_delivery_attempts=2, dead_letter="dead")
BELOW = ("a/b", "a/b/c", "ab")
QUEUES = ("ordered", "ranked", "chosen", "chosen/foreign", "drained", "shared", *BELOW)
ADDRESSES = (
    *(DesiredAddress(name, QUEUE) for name in QUEUES),
    DesiredAddress("news", TOPIC),
    DesiredAddress("news/eu", TOPIC),
    DesiredAddress("dead", QUEUE, read_only=True),
    DesiredAddress("tried", QUEUE, limits=TWICE),
    DesiredAddress("told", TOPIC, limits=TWICE, subscriptions=("inbox",)),
    DesiredAddress("late", QUEUE, read_only=True),
    DesiredAddress(
        "brief",
        QUEUE,
        limits=AddressSettings(message_ttl_min_ms=50, message_ttl_ms=100, expiry="late"),
    ),
)
USERS = (
    user("alice", ("#", "send recv")),
    user("sends", ("a/*", "send")),
    user("receives", ("a/#", "recv")),
)
MANY = 1024
HIGHEST = 10  # priorities are 0 to 9


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PublicBroker]:
    folder = tmp_path_factory.mktemp("semantics")
    with public_broker.running(folder, ADDRESSES, USERS) as made:
        yield made


@pytest.fixture
def alice(broker: PublicBroker) -> Iterator[BlockingConnection]:
    with broker.connected() as connection:
        yield connection


@pytest.fixture
def job(broker: PublicBroker) -> Job:
    """What a foreign client needs to log in; tests name its address."""
    ca = broker.folder / "foreign.pem"
    ca.write_text(broker.rigged.desired.authority_pem)
    return Job(*broker.at, ca, "alice", PASSWORD, "")


def put(connection: BlockingConnection, address: str, messages: list[Message]) -> None:
    """Send them all and wait for the last outcome only."""
    sender = connection.create_sender(address)
    posted = [routing_rig.hand_over(sender, message) for message in messages]
    connection.wait(lambda: all(delivery.settled for delivery in posted), timeout=60)
    sender.close()


def rest(receiver: BlockingReceiver) -> int:
    """Return how many more messages came within a moment."""
    routing_rig.settle_down(receiver.connection)
    return routing_rig.waiting(receiver)


def test_messages_keep_their_order(alice: BlockingConnection) -> None:
    put(alice, "ordered", [Message(body=number) for number in range(500)])

    receiver = alice.create_receiver("ordered", credit=500)

    assert routing_rig.take(receiver, 500) == list(range(500))


def test_no_message_comes_before_one_of_a_higher_priority(alice: BlockingConnection) -> None:
    put(
        alice,
        "ranked",
        [Message(body=n, priority=n * 7 % HIGHEST, durable=True) for n in range(MANY)],
    )

    taken = routing_rig.take(alice.create_receiver("ranked", credit=MANY), MANY)

    ranks = [(-(number * 7 % HIGHEST), number) for number in taken]
    assert all(earlier < later for earlier, later in pairwise(ranks))  # and in order within one


# Each with the numbers of the messages that it chooses.
SELECTORS = {
    "n = 2": {2},
    "n <> 2": {0, 1, 3},
    "n >= 1 AND n < 3": {1, 2},
    "n BETWEEN 2 AND 3": {2, 3},
    "color IN ('red', 'blue')": {0, 2},
    "color LIKE 'gr%'": {1},
    "color IS NULL": {3},
    "flag": {1, 3},
    "NOT flag AND color IS NOT NULL": {0, 2},
    "n * 2 + 1 > 5": {3},
    "AMQPriority > 5": {3},
    "JMSCorrelationID = 'c1'": {1},
    "JMSType = 'kind2'": {2},
}
# These fields choose from a queue only: for a subscription the broker does not know their names.
OF_QUEUES = {"JMSPriority > 5": {3}, "JMSMessageID = 'ID:m0'": {0}}


def numbered() -> list[Message]:
    colors = ["red", "green", "blue", None]
    return [
        Message(
            body=number,
            id=f"m{number}",
            correlation_id=f"c{number}",
            subject=f"kind{number}",
            priority=number * 2,
            properties={"n": number, "flag": bool(number % 2)}
            | ({"color": color} if color else {}),
        )
        for number, color in enumerate(colors)
    ]


def test_selectors_choose_by_properties_and_headers(alice: BlockingConnection) -> None:
    """On a queue, which keeps the others, and on subscriptions, which never get them."""
    subscribed = {
        text: alice.create_receiver("news", name=f"sub {text}", credit=9, options=Selector(text))
        for text in (*SELECTORS, *OF_QUEUES)
    }
    put(alice, "news", numbered())
    chosen = {}
    for text, wanted in (SELECTORS | OF_QUEUES).items():
        put(alice, "chosen", numbered())
        receiver = alice.create_receiver("chosen", name=text, credit=9, options=Selector(text))
        chosen[text] = set(routing_rig.take(receiver, len(wanted)))
        assert rest(receiver) == 0
        receiver.close()
        kept = alice.create_receiver("chosen", name=f"rest {text}", credit=9)
        assert len(routing_rig.take(kept, 4 - len(wanted))) == 4 - len(wanted)
        kept.close()

    assert chosen == SELECTORS | OF_QUEUES
    assert {
        text: set(routing_rig.take(subscribed[text], len(wanted)))
        for text, wanted in SELECTORS.items()
    } == SELECTORS
    assert sum(rest(receiver) for receiver in subscribed.values()) == 0


@pytest.mark.parametrize("exchange", [node.exchange, plain_proton.exchange], ids=["rhea", "proton"])
def test_foreign_clients_share_a_queue(job: Job, exchange: Callable[[Job], Told]) -> None:
    """Each message reaches one of them."""
    told = exchange(replace(job, address="chosen/foreign", messages=20, receivers=4))

    assert told == Told(20, told.received, "")
    assert Counter(told.received) == dict.fromkeys((f"message {n}" for n in range(20)), 1)


def test_receivers_take_turns(alice: BlockingConnection) -> None:
    receivers = [alice.create_receiver("shared", name=f"r{n}", credit=20) for n in range(4)]

    put(alice, "shared", [Message(body=number) for number in range(20)])

    assert [len(routing_rig.take(receiver, 5)) for receiver in receivers] == [5, 5, 5, 5]


def test_a_drained_receiver_has_no_credit_left(alice: BlockingConnection) -> None:
    put(alice, "drained", [Message(body=number) for number in range(3)])
    receiver = alice.create_receiver("drained", credit=0)

    receiver.link.drain(10)
    alice.wait(lambda: receiver.link.credit == 0 and routing_rig.waiting(receiver) == 3)

    assert routing_rig.take(receiver, 3) == [0, 1, 2]
    receiver.link.drain(10)  # of an empty queue
    alice.wait(lambda: receiver.link.credit == 0)
    put(alice, "drained", [Message(body="later")])
    assert rest(receiver) == 0


def test_a_selector_that_is_none_is_refused(alice: BlockingConnection) -> None:
    for text in ("n IN (0, 3)", "n ==", "color LIKE 3"):
        with pytest.raises(LinkDetached) as refusal:
            alice.create_receiver("chosen", name=text, options=Selector(text))
        assert refusal.value.condition == "amqp:invalid-field"


class _Shared(ReceiverOption):
    """A subscription that several links of one container share."""

    def __init__(self, *, is_durable: bool) -> None:
        self._is_durable = is_durable

    def apply(self, link: Link) -> None:
        link.source.capabilities.put_object(symbol("shared"))
        if self._is_durable:
            link.source.durability = Terminus.DELIVERIES
            link.source.expiry_policy = Terminus.EXPIRE_NEVER


@pytest.mark.parametrize("is_durable", [False, True])
def test_a_shared_subscription_gives_each_message_to_one(
    alice: BlockingConnection, is_durable: bool
) -> None:
    shared = _Shared(is_durable=is_durable)
    # Link names that differ after the bar only name one subscription.
    ours = [
        alice.create_receiver("news", name=f"team-{is_durable}|{n}", credit=20, options=shared)
        for n in range(2)
    ]
    alone = alice.create_receiver("news", name="alone", credit=20)

    put(alice, "news", [Message(body=number) for number in range(20)])

    assert routing_rig.take(alone, 20) == list(range(20))
    taken = [routing_rig.take(receiver, 10) for receiver in ours]
    assert sorted(taken[0] + taken[1]) == list(range(20))


def test_a_durable_subscription_survives_the_end_of_its_link(alice: BlockingConnection) -> None:
    owned = alice.create_receiver("news", name="kept", credit=1, options=DurableSubscription())
    plain = alice.create_receiver("news", name="plain")
    owned.link.detach()
    plain.close()
    routing_rig.flush(alice)

    put(alice, "news", [Message(body="missed")])

    again = alice.create_receiver("news", name="kept", credit=1, options=DurableSubscription())
    assert routing_rig.take(again, 1) == ["missed"]
    again.close()
    assert rest(alice.create_receiver("news", name="plain", credit=1)) == 0


def test_a_topic_gets_nothing_of_those_above_and_below(alice: BlockingConnection) -> None:
    above = alice.create_receiver("news", name="above", credit=5)
    below = alice.create_receiver("news/eu", name="below", credit=5)

    put(alice, "news/eu", [Message(body="below")])
    put(alice, "news", [Message(body="above")])

    assert (routing_rig.take(above, 1), routing_rig.take(below, 1)) == (["above"], ["below"])
    assert (rest(above), rest(below)) == (0, 0)


@pytest.mark.parametrize(
    ("name", "may_send", "may_receive"),
    [("sends", {"a/b"}, set[str]()), ("receives", set[str](), {"a/b", "a/b/c"})],
)
def test_patterns_of_permissions_stop_at_levels(
    broker: PublicBroker, name: str, may_send: set[str], may_receive: set[str]
) -> None:
    """Send-only and receive-only; ``a/#`` does not open ``ab``, which only begins the same."""
    with broker.connected(name) as connection:
        for attach, may in (
            (connection.create_sender, may_send),
            (connection.create_receiver, may_receive),
        ):
            for address in may:
                attach(address)
            for address in set(BELOW) - may:
                with pytest.raises(LinkDetached) as refusal:
                    attach(address)
                assert refusal.value.condition == "amqp:unauthorized-access"


@pytest.mark.parametrize(("to", "at"), [("tried", "tried"), ("told", "told::inbox")])
def test_two_attempts_are_exactly_two_deliveries(
    alice: BlockingConnection, to: str, at: str
) -> None:
    """Also of a topic's subscription. Without a limit there are as many as it takes."""
    amqp.send(alice, to, f"poison of {to}")
    receiver = alice.create_receiver(at, credit=10)
    for earlier in range(2):
        assert receiver.receive(timeout=60).delivery_count == earlier
        routing_rig.fail(receiver)

    assert rest(receiver) == 0
    assert amqp.receive(alice, "dead", 1) == [f"poison of {to}"]


@contextmanager
def without_settings(broker: PublicBroker, name: str) -> Iterator[None]:
    """Let the running broker hold one address without its settings for a while."""
    changed = [
        replace(address, limits=AddressSettings()) if address.address == name else address
        for address in ADDRESSES
    ]
    broker.rigged.hold(*changed)
    yield
    broker.rigged.hold(*ADDRESSES)


def test_without_the_setting_attempts_are_unlimited(
    broker: PublicBroker, alice: BlockingConnection
) -> None:
    with without_settings(broker, "tried"):
        amqp.send(alice, "tried", "stubborn")
        receiver = alice.create_receiver("tried", credit=1)
        for earlier in range(12):  # the broker's own default is 10
            assert receiver.receive(timeout=60).delivery_count == earlier
            routing_rig.fail(receiver)
        assert receiver.receive(timeout=60).body == "stubborn"
        receiver.accept()
        receiver.close()


def test_lifetimes_are_those_of_the_address_until_it_has_none(
    broker: PublicBroker, alice: BlockingConnection
) -> None:
    """No expiry, one in between, and a day: all end within the longest lifetime."""
    sent = {"none": 0.0, "between": 0.07, "a day": 86_400.0}
    put(alice, "brief", [Message(body=body, ttl=ttl, durable=True) for body, ttl in sent.items()])
    assert sorted(amqp.receive(alice, "late", 3)) == sorted(sent)

    with without_settings(broker, "brief"):
        amqp.send(alice, "brief", "stays")
        receiver = alice.create_receiver("brief", credit=1)
        assert receiver.receive(timeout=60).expiry_time == 0  # the broker gave it none
        receiver.accept()
        receiver.close()


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    return jms.compiled(tmp_path_factory.mktemp("jms"))


def test_java_clients_share_a_queue(job: Job, program: Program) -> None:
    ended = program.run("exchange", replace(job, receivers=3), "queue:shared")

    assert (ended.accepted, ended.refused) == (job.messages, "")
    assert Counter(ended.received) == dict.fromkeys(job.bodies, 1)
