"""Subscriptions to all topics that a filter matches, on a real broker with the plugin.

The law: a filter delivers nothing that its user may not read.
"""

import secrets
from collections.abc import Iterator
from dataclasses import replace

import pytest
from proton import Delivery, Link, Message, Terminus, symbol
from proton.handlers import MessagingHandler
from proton.reactor import DurableSubscription, ReceiverOption, Selector
from proton.utils import BlockingConnection, BlockingReceiver, LinkDetached

from controlplane.core.address_types import AddressSettings
from tests.support.foreign import Job, node
from tests.support.foreign.jms import program as jms
from tests.support.foreign.jms.program import Ended
from tests.support.messaging import amqp, public_broker, routing_rig
from tests.support.messaging.public_broker import PASSWORD, PublicBroker, user
from tests.support.waiting import eventually
from workers.messaging import management, patterns
from workers.messaging.brokers import driver
from workers.messaging.brokers.desired import BrokerAddressKind, DesiredAddress
from workers.messaging.brokers.snapshot import MeteredAddress
from workers.messaging.brokers.tables import BrokerTables
from workers.messaging.management import Request
from workers.messaging.observed import AddressCounters

pytestmark = [pytest.mark.broker, pytest.mark.slow]

QUEUE, TOPIC = BrokerAddressKind.QUEUE, BrokerAddressKind.TOPIC
TRIED = AddressSettings(max_delivery_attempts=1, dead_letter="news/dead")
TOPICS = ("news", "news/eu", "news/eu/fr", "news/us", "newsroom", "other")
ADDRESSES = (
    *(DesiredAddress(name, TOPIC) for name in TOPICS),
    DesiredAddress("news/jobs", QUEUE),
    DesiredAddress("news/dead", QUEUE, read_only=True),
    DesiredAddress("news/tried", TOPIC, limits=TRIED, subscriptions=("inbox",)),
)
# One user for each pattern; what each may subscribe to is compared with ``patterns.covers``.
PATTERNS = ("#", "*", "*/#", "news/#", "news/*", "news/*/fr", "*/eu", "*/*/#", "news/eu", "n*s/#")
OTHERS = ("news/eu/#", "newsroom/#", "*/*", "no/#")
FILTERS = (*filter(patterns.is_filter, PATTERNS), *OTHERS)
MOST, MOST_BYTES = 100, 8_388_608  # subscriptions of a space, bytes of one


def reader(number: int) -> str:
    return f"reader-{number}"


USERS = (
    user("alice", ("#", "send recv")),
    user("member", ("news/*", "recv"), ("news/#", "send")),
    user("outsider", ("#", "send"), ("other", "recv")),
    *(user(reader(number), (pattern, "recv")) for number, pattern in enumerate(PATTERNS)),
)
METERED = [
    MeteredAddress(address.address, "topic" if address.address_kind is TOPIC else "queue")
    for address in ADDRESSES
]


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PublicBroker]:
    folder = tmp_path_factory.mktemp("filters")
    with public_broker.running(folder, ADDRESSES, USERS) as made:
        yield made


@pytest.fixture
def alice(broker: PublicBroker) -> Iterator[BlockingConnection]:
    with broker.connected() as connection:
        yield connection


@pytest.fixture
def job(broker: PublicBroker) -> Job:
    ca = broker.folder / "foreign.pem"
    ca.write_text(broker.rigged.desired.authority_pem)
    return Job(*broker.at, ca, "alice", PASSWORD, "news/eu")


class _Shared(ReceiverOption):
    """A subscription that several links of one container share."""

    def __init__(self, *, is_durable: bool) -> None:
        self._is_durable = is_durable

    def apply(self, link: Link) -> None:
        link.source.capabilities.put_object(symbol("shared"))
        if self._is_durable:
            link.source.durability = Terminus.DELIVERIES
            link.source.expiry_policy = Terminus.EXPIRE_NEVER


class _Resumed(ReceiverOption):
    """A link without a source: the broker finds the subscription by its name alone."""

    def apply(self, link: Link) -> None:
        link.source.type = Terminus.UNSPECIFIED


class _NoCredit(MessagingHandler):
    """Of a link that gives no credit: the broker cannot tell to which link it would belong."""

    def __init__(self) -> None:
        super().__init__(prefetch=0)


def taken(receiver: BlockingReceiver) -> list[str]:
    """Return the bodies of all messages that have come within a moment."""
    routing_rig.settle_down(receiver.connection)
    return [str(body) for body in routing_rig.take(receiver, routing_rig.waiting(receiver))]


def send_everywhere(connection: BlockingConnection) -> None:
    """Send one message to each topic and queue; its body is the name."""
    for address in ADDRESSES:
        if not address.read_only:
            amqp.send(connection, address.address, address.address)


def names_on(broker: PublicBroker, operation: str) -> set[str]:
    with management.connected(broker.rigged.target, purpose="look") as client:
        return {row["name"] for row in BrokerTables(client).rows(operation)}


def filters_on(broker: PublicBroker) -> set[str]:
    return {name for name in names_on(broker, "listAddresses") if patterns.is_filter(name)}


def counters(broker: PublicBroker, address: str) -> AddressCounters:
    taken_now = driver.snapshot(broker.rigged.target, addresses=METERED)
    return next(counted for counted in taken_now.addresses if counted.address == address)


def refused(connection: BlockingConnection, address: str, *options: ReceiverOption) -> str:
    """Return the condition with which a receiver is refused."""
    name = secrets.token_hex(8)  # a refused name cannot be used again (docs/messaging.md)
    with pytest.raises(LinkDetached) as refusal:
        connection.create_receiver(address, name=name, options=list(options))
    return str(refusal.value.condition)


@pytest.mark.parametrize("wanted", ["#", "*", "news/#", "news/*", "*/eu", "news/eu/#", "no/#"])
def test_a_filter_gets_the_topics_that_it_matches_and_nothing_else(
    alice: BlockingConnection, wanted: str
) -> None:
    """No queue, no dead letter, no reply, nothing internal."""
    receiver = alice.create_receiver(wanted, credit=100)
    answers = alice.create_receiver(None, dynamic=True, credit=1)

    send_everywhere(alice)
    amqp.send(alice, str(answers.link.remote_source.address), "a reply")
    inbox = alice.create_receiver("news/tried::inbox", credit=1)
    inbox.receive(timeout=60)
    inbox.reject()
    inbox.close()
    assert amqp.receive(alice, "news/dead", 1) == ["news/tried"]

    topics = [a.address for a in ADDRESSES if a.address_kind is TOPIC]
    assert taken(receiver) == [name for name in topics if patterns.matches(wanted, name)]
    amqp.receive(alice, "news/jobs", 1)


def test_a_subscriber_learns_the_topic(alice: BlockingConnection) -> None:
    receiver = alice.create_receiver("news/*", credit=1)

    amqp.send(alice, "news/eu", "x")

    found = receiver.receive(timeout=60)
    assert found.instructions is not None
    assert found.instructions["x-opt-waypost-topic"] == "news/eu"
    receiver.accept()


@pytest.mark.parametrize("number", range(len(PATTERNS)))
def test_a_user_subscribes_to_what_one_of_its_patterns_covers(
    broker: PublicBroker, number: int
) -> None:
    """Of every kind of subscription, and the broker and Python agree about every pair."""
    with broker.connected(reader(number)) as connection:
        for wanted in FILTERS:
            kinds: list[list[ReceiverOption]] = [
                [],
                [DurableSubscription()],
                [_Shared(is_durable=False)],
                [_Shared(is_durable=True)],
            ]
            for kind, options in enumerate(kinds):
                name = f"{number} {kind} {wanted}"
                if patterns.covers(PATTERNS[number], wanted):
                    connection.create_receiver(wanted, name=name, options=options).close()
                else:
                    assert refused(connection, wanted, *options) == "amqp:unauthorized-access"


@pytest.mark.parametrize("name", ["member", "outsider"])
def test_a_user_reads_and_ends_no_subscription_of_others(broker: PublicBroker, name: str) -> None:
    """Not by the name of its queue, and not by container and name of the subscription."""
    durable = DurableSubscription()
    with broker.connected(container="owner") as alice:
        kept = alice.create_receiver("news/#", name="private", credit=0, options=durable)
        kept.link.detach()
        routing_rig.flush(alice)
        amqp.send(alice, "news/eu", "private")

    with broker.connected(name) as connection:
        for address in ("news/#::owner.private", "other::owner.private", "owner.private"):
            assert refused(connection, address) in ("amqp:unauthorized-access", "amqp:not-found")
    for source in ("news/#", "news/eu", "other"):
        with broker.connected(name, container="owner") as thief, pytest.raises(LinkDetached):
            thief.create_receiver(source, name="private", credit=1, options=durable)
    with broker.connected(name, container="owner") as thief, pytest.raises(LinkDetached) as refusal:
        thief.create_receiver(None, name="private", credit=1, options=_Resumed())
    assert refusal.value.condition == "amqp:unauthorized-access"

    with broker.connected(container="owner") as alice:
        kept = alice.create_receiver("news/#", name="private", credit=9, options=durable)
        assert taken(kept) == ["private"]
        kept.close()


def test_a_refused_link_that_comes_again_leaves_no_queue(
    broker: PublicBroker, alice: BlockingConnection
) -> None:
    """The broker reports no new link then, so the plugin's first check does not see it."""
    durable = DurableSubscription()
    alice.create_receiver("news/#")
    with broker.connected("outsider", container="again") as outsider:
        with pytest.raises(LinkDetached):
            outsider.create_receiver("news/#", name="link", options=durable)
        # Nobody answers it (docs/messaging.md), so nothing waits for an answer.
        assert outsider.conn is not None
        outsider.container.create_receiver(
            outsider.conn, "news/#", name="link", options=durable, handler=_NoCredit()
        )
        outsider.create_sender("other")  # the answer to this comes after the other link

        assert "again.link" not in names_on(broker, "listQueues")


@pytest.mark.parametrize("wanted", ["ne*s/#", "news/#/eu", "news/+", "$waypost.probe.*", "a b/*"])
def test_what_is_no_filter_is_no_address(alice: BlockingConnection, wanted: str) -> None:
    assert refused(alice, wanted) == "amqp:not-found"


@pytest.mark.parametrize("wanted", ["news/#", "news/*"])
def test_a_filter_takes_no_messages(alice: BlockingConnection, wanted: str) -> None:
    receiver = alice.create_receiver(wanted, credit=1)

    with pytest.raises(LinkDetached) as refusal:
        alice.create_sender(wanted)
    sender = alice.create_sender(None)
    posted = routing_rig.hand_over(sender, Message(address=wanted, body="no"))

    assert refusal.value.condition == "amqp:not-found"
    assert routing_rig.outcome(sender, posted) == Delivery.REJECTED
    assert taken(receiver) == []


def test_a_message_for_one_queue_of_a_topic_is_not_for_filters(alice: BlockingConnection) -> None:
    receiver = alice.create_receiver("news/*", credit=5)

    amqp.send(alice, "news/tried::inbox", "for one")

    assert taken(receiver) == []
    assert amqp.receive(alice, "news/tried::inbox", 1) == ["for one"]


def test_selectors_choose_among_all_topics(alice: BlockingConnection) -> None:
    receiver = alice.create_receiver("news/*", credit=9, options=Selector("n = 2"))

    for number, topic in enumerate(("news/eu", "news/us", "news/eu", "other"), start=1):
        sender = alice.create_sender(topic)
        sender.send(Message(body=topic, properties={"n": number % 3}))
        sender.close()

    assert taken(receiver) == ["news/us"]


@pytest.mark.parametrize("is_durable", [False, True])
def test_a_shared_subscription_gives_each_message_to_one(
    alice: BlockingConnection, is_durable: bool
) -> None:
    shared = _Shared(is_durable=is_durable)
    ours = [
        alice.create_receiver("news/*", name=f"team-{is_durable}|{n}", credit=20, options=shared)
        for n in range(2)
    ]

    for number in range(10):
        amqp.send(alice, ("news/eu", "news/us")[number % 2], str(number))

    found = [taken(receiver) for receiver in ours]
    assert sorted(found[0] + found[1]) == [str(number) for number in range(10)]
    assert all(found)
    for receiver in ours:
        receiver.close()


def test_a_durable_subscription_survives_its_link_and_the_broker(broker: PublicBroker) -> None:
    durable = DurableSubscription()
    with broker.connected(container="keeper") as alice:
        alice.create_receiver("news/*", name="kept", credit=0, options=durable).link.detach()
        routing_rig.flush(alice)
        amqp.send(alice, "news/eu", "before")
        broker.rigged.kill()
        broker.rigged.start()
    with broker.connected() as other:
        amqp.send(other, "news/us", "after")  # nobody has attached since the start

    with broker.connected(container="keeper") as alice:
        kept = alice.create_receiver("news/*", name="kept", credit=9, options=durable)
        assert taken(kept) == ["before", "after"]
        kept.close()
    eventually(lambda: "news/*" not in filters_on(broker), "the filter ends")


def test_topics_come_and_go_below_a_filter(broker: PublicBroker, alice: BlockingConnection) -> None:
    receiver = alice.create_receiver("late/#", credit=9)
    late = DesiredAddress("late/one", TOPIC)
    for round_ in range(2):
        broker.rigged.hold(*ADDRESSES, late, DesiredAddress("late/queue", QUEUE))
        amqp.send(alice, "late/one", f"round {round_}")
        amqp.send(alice, "late/queue", "not for it")
        assert taken(receiver) == [f"round {round_}"]
        broker.rigged.hold(*ADDRESSES)
        driver.remove(broker.rigged.target, ["late/one", "late/queue"])


def test_a_filter_ends_with_its_subscription_and_begins_again(
    broker: PublicBroker, alice: BlockingConnection
) -> None:
    for _ in range(2):
        receiver = alice.create_receiver("gone/#")
        assert "gone/#" in filters_on(broker)
        receiver.close()
        eventually(lambda: "gone/#" not in filters_on(broker), "it is deleted")


def test_messages_of_a_filter_count_once_for_each_subscriber(broker: PublicBroker) -> None:
    """Under the filter's own name; the topics count them in, once, and do not count them out."""
    with broker.connected() as alice:
        before = {name: counters(broker, name) for name in ("news/eu", "news/us")}
        receivers = [
            alice.create_receiver("news/*", name=name, credit=9, options=options)
            for name, options in (("one", None), ("two", None), ("kept", DurableSubscription()))
        ]
        other = alice.create_receiver("*/eu", credit=9)
        own = alice.create_receiver("news/eu", credit=9)
        amqp.send(alice, "news/eu", "a", "b")
        amqp.send(alice, "news/us", "c")
        assert [len(taken(receiver)) for receiver in (*receivers[:2], other, own)] == [3, 3, 2, 2]
        routing_rig.flush(alice)
        eventually(lambda: counters(broker, "news/*").messages_out == 2 * 3, "all are acknowledged")

        many, eu = counters(broker, "news/*"), counters(broker, "*/eu")
        topics = {name: counters(broker, name) for name in before}
        receivers[2].close()
    assert (many.type, many.messages_in, many.incarnation != "") == ("topic", 0, True)
    assert sorted(many.queues_out.values()) == [0, 3, 3]
    assert many.stored_bytes > 0  # of the subscription that nobody reads
    assert (eu.messages_in, eu.messages_out) == (0, 2)
    came = {name: topics[name].messages_in - before[name].messages_in for name in before}
    assert came == {"news/eu": 2, "news/us": 1}
    assert (topics["news/eu"].messages_out, topics["news/us"].messages_out) == (2, 0)
    assert {topics[name].type for name in topics} == {""}


def test_who_loses_the_cover_loses_the_filter(broker: PublicBroker) -> None:
    """The connection is closed, the subscription stays for those who may read it."""
    desired = broker.rigged.desired
    durable = DurableSubscription()
    others = [one for one in USERS if one.name != "member"]
    changed = [*others, user("member", ("news/eu", "recv"), ("news/us", "recv"))]
    with broker.connected("member", container="late") as member, broker.connected() as alice:
        member.create_receiver("news/*", name="cut", options=durable)
        alice.create_receiver("news/*", name="goes on")
        assert driver.disconnect_clients(broker.rigged.target, broker.rigged.desired) == 0
        broker.rigged.desired = replace(desired, users=changed)
        broker.rigged.hold(*ADDRESSES)
        try:
            assert driver.disconnect_clients(broker.rigged.target, broker.rigged.desired) == 1
            with broker.connected("member", container="late") as again:
                assert refused(again, "news/*") == "amqp:unauthorized-access"
                assert refused(again, "news/*::late.cut") == "amqp:unauthorized-access"
            assert "late.cut" in names_on(broker, "listQueues")
            unknown = driver.list_unknown(broker.rigged.target, broker.rigged.desired)
            assert "news/*" not in {*unknown.empty, *unknown.holding}
        finally:
            broker.rigged.desired = desired
            broker.rigged.hold(*ADDRESSES)
    with broker.connected("member", container="late") as member:
        member.create_receiver("news/*", name="cut", options=durable).close()


@pytest.mark.parametrize("wanted", ["orphan/#", "#"])
def test_a_filter_that_nobody_may_read_is_an_orphan(broker: PublicBroker, wanted: str) -> None:
    """Its deletion takes no settings with it, of which its name would be a match."""
    target, desired = broker.rigged.target, broker.rigged.desired
    with broker.connected() as alice:
        kept = alice.create_receiver(wanted, name="kept", options=DurableSubscription())
        kept.link.detach()
        routing_rig.flush(alice)
    nobody = replace(desired, users=[user("outsider", ("other", "recv"))])
    settings = rules_of_everything(broker)

    assert wanted in driver.list_unknown(target, nobody).empty
    assert wanted not in driver.list_unknown(target, desired).empty
    driver.withdraw(target, [wanted])
    driver.remove(target, [wanted])

    assert wanted not in filters_on(broker)
    assert rules_of_everything(broker) == settings


def rules_of_everything(broker: PublicBroker) -> list[object]:
    """Return the settings and roles of an address that has none of its own."""
    with management.connected(broker.rigged.target, purpose="rules") as client:
        return list(
            client.try_all(
                [
                    Request("broker", operation, [name])
                    for operation in ("getAddressSettingsAsJSON", "getRolesAsJSON")
                    for name in ("nowhere", "orphan/nowhere")
                ]
            )
        )


def test_a_subscription_that_nobody_reads_refuses_what_it_cannot_store(
    broker: PublicBroker, alice: BlockingConnection
) -> None:
    receiver = alice.create_receiver("news/us/#", name="full", credit=0)
    sender = alice.create_sender("news/us")
    large = Message(body="x" * (MOST_BYTES // 4), durable=True)

    outcomes = []
    for _ in range(6):
        posted = routing_rig.hand_over(sender, large)
        outcomes.append(routing_rig.outcome(sender, posted))
    assert outcomes[0] == Delivery.ACCEPTED
    assert outcomes[-1] == Delivery.REJECTED
    assert routing_rig.condition_of(posted) == "amqp:resource-limit-exceeded"
    sender.close()

    amqp.send(alice, "news/eu", "not concerned")
    receiver.close()
    eventually(lambda: "news/us/#" not in filters_on(broker), "the filter ends")
    amqp.send(alice, "news/us", "room again")


def test_the_number_of_subscriptions_has_a_limit(broker: PublicBroker) -> None:
    with broker.connected() as alice:
        for number in range(MOST):
            alice.create_receiver("news/#", name=f"s{number}")
        with pytest.raises(LinkDetached, match="at most 100 subscriptions to filters"):
            alice.create_receiver("news/#", name="one more")
        alice.create_receiver("news/eu", name="a topic")
    eventually(lambda: not filters_on(broker), "all end with their connection")
    with broker.connected() as alice:
        alice.create_receiver("news/#")


def test_rhea_subscribes_to_a_filter(job: Job) -> None:
    assert node.exchange(replace(job, source="news/#", copies=True)).refused == ""


def test_java_clients_subscribe_to_a_filter(
    job: Job, tmp_path_factory: pytest.TempPathFactory
) -> None:
    program = jms.compiled(tmp_path_factory.mktemp("jms"))
    plain = program.run("exchange", replace(job, receivers=1), "topic:news/eu", "topic:news/#")
    durable = program.run(
        "subscribe", job, "topic:news/eu", "topic:news/*", id="ledger", name="kept"
    )
    ended = program.run(
        "unsubscribe", job, "topic:news/eu", "topic:news/*", id="ledger", name="ended"
    )

    assert plain == durable == Ended(job.messages, job.bodies, (), "", "")
    assert ended == Ended(job.messages, ("last",), (), "", "")


# The broker counts consumers for clusters. It reports one that the plugin closed before it counted.
CLOSED_AT_ONCE = "AMQ224095: Error updating Consumer Count"


def test_the_broker_logs_no_other_error(broker: PublicBroker) -> None:
    errors = [line for line in broker.log.splitlines() if " ERROR " in line]
    assert [line for line in errors if CLOSED_AT_ONCE not in line] == []
