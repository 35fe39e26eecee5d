"""The broker plugin on a real broker: strangers, costly selectors, queues of other addresses."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from proton import ConnectionException, Delivery, Disposition, Message
from proton.reactor import DurableSubscription, Selector
from proton.utils import BlockingConnection, LinkDetached

from tests.support.messaging import amqp, public_broker
from tests.support.messaging.public_broker import PublicBroker, user
from tests.support.messaging.strangers import SASL_HEADER, has_ended
from tests.support.waiting import eventually
from workers.messaging import management
from workers.messaging.brokers import broker_xml, connections, driver
from workers.messaging.brokers.desired import BrokerAddressKind, DesiredAddress
from workers.messaging.management import Request
from workers.messaging.observed import ConnectionSeen

pytestmark = [pytest.mark.broker, pytest.mark.slow]

QUEUE, TOPIC = BrokerAddressKind.QUEUE, BrokerAddressKind.TOPIC
ADDRESSES = (
    DesiredAddress("allowed", QUEUE),
    DesiredAddress("foreign", QUEUE),
    DesiredAddress("news", TOPIC, subscriptions=("reader",)),
)
USERS = (user("alice", ("allowed", "send recv"), ("news", "send recv")), user("bob", ("#", "recv")))
MAX_CONNECTIONS = 20
# A login has this long, and the plugin looks once a second.
PATIENCE = broker_xml.SECONDS_TO_LOG_IN + 2
RUNAWAY = "p LIKE '" + "%a" * 14 + "%b'"
FORTY = "a" * 40


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PublicBroker]:
    folder = tmp_path_factory.mktemp("guarded")
    with public_broker.running(folder, ADDRESSES, USERS, MAX_CONNECTIONS) as made:
        yield made


@pytest.fixture
def patient_broker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PublicBroker]:
    """A broker that closes no connection for its age, however slow the machine is."""
    monkeypatch.setattr(broker_xml, "SECONDS_TO_LOG_IN", 24 * 3600)
    with public_broker.running(tmp_path / "patient", ADDRESSES, USERS) as made:
        yield made


@pytest.fixture
def alice(broker: PublicBroker) -> Iterator[BlockingConnection]:
    """A client that finds its queue empty."""
    with management.connected(broker.rigged.target, purpose="empty") as client:
        client.call("queue.allowed", "removeAllMessages")
    with broker.connected() as connection:
        yield connection


def opened(broker: PublicBroker) -> int:
    return driver.snapshot(broker.rigged.target, addresses=()).connections_opened


def test_silent_connections_keep_no_client_out(broker: PublicBroker) -> None:
    before = opened(broker)
    with ExitStack() as strangers:
        for _ in range(230):  # more than the plan's limit and than one source may have
            strangers.enter_context(broker.silent())

        with broker.connected() as connection:
            amqp.send(connection, "allowed", "in time")
            assert amqp.receive(connection, "allowed", 1) == ["in time"]

    assert opened(broker) == before + 1  # strangers are not billed


@pytest.mark.parametrize(
    "sent", [b"", b"AMQP", SASL_HEADER, b"AMQP\x00\x01\x00\x00", b"GET / HTTP/1.1\r\nHost: x\r\n"]
)
def test_a_connection_without_a_login_is_closed_soon(broker: PublicBroker, sent: bytes) -> None:
    with broker.silent(sent) as stranger:
        eventually(lambda: has_ended(stranger), "closed", PATIENCE)


def test_a_connection_without_tls_is_closed_soon(broker: PublicBroker) -> None:
    with socket.create_connection(broker.at) as stranger:
        eventually(lambda: has_ended(stranger), "closed", PATIENCE)


def test_a_client_that_logged_in_may_be_silent(
    broker: PublicBroker, alice: BlockingConnection
) -> None:
    threading.Event().wait(PATIENCE)

    amqp.send(alice, "allowed", "still here")
    assert amqp.receive(alice, "allowed", 1) == ["still here"]


def test_one_source_has_so_many_connections_without_a_login(patient_broker: PublicBroker) -> None:
    with ExitStack() as stack:
        strangers = [
            stack.enter_context(patient_broker.silent())
            for _ in range(broker_xml.WAITING_PER_SOURCE + 10)
        ]

        eventually(lambda: all(map(has_ended, strangers[:10])), "the oldest are closed")
        assert not any(map(has_ended, strangers[10:]))


def test_connections_beyond_the_plan_are_refused_and_not_counted(broker: PublicBroker) -> None:
    before = opened(broker)
    with ExitStack() as clients:
        for _ in range(MAX_CONNECTIONS - 1):
            clients.enter_context(broker.connected())
        last = clients.enter_context(ExitStack())
        last.enter_context(broker.connected())
        with pytest.raises(ConnectionException) as refusal, broker.connected():
            pass
        assert "amqp:resource-limit-exceeded" in str(refusal.value)
        assert f"allows {MAX_CONNECTIONS} connections" in str(refusal.value)

        last.close()
        eventually(lambda: lets_in(broker), "a place is free again")

    assert opened(broker) >= before + MAX_CONNECTIONS + 1
    assert driver.snapshot(broker.rigged.target, addresses=()).connections == []


def lets_in(broker: PublicBroker) -> bool:
    try:
        with broker.connected():
            return True
    except ConnectionException:
        return False


def test_a_failed_login_is_no_connection(broker: PublicBroker) -> None:
    before = opened(broker)

    for _ in range(3):
        with pytest.raises(ConnectionException, match="unauthorized-access"):
            broker.connected("stranger").__enter__()

    assert opened(broker) == before


def test_a_runaway_selector_holds_no_thread(
    broker: PublicBroker, alice: BlockingConnection
) -> None:
    alice.create_sender("allowed").send(Message(body="x", properties={"p": FORTY}))

    with pytest.raises(LinkDetached) as refusal:
        alice.create_receiver("allowed", name="runaway", options=Selector(RUNAWAY))

    assert refusal.value.condition == "amqp:invalid-field"
    assert "LIKE pattern" in str(refusal.value)
    assert amqp.receive(alice, "allowed", 1) == ["x"]  # the queue's thread goes on


@pytest.mark.parametrize(
    "selector",
    [
        "p LIKE '%a%b'",
        "p LIKE 'a%%b'",
        "p NOT LIKE '%a%b%'",
        "n = 1 AND (m > 2 OR NOT p LIKE '%a%b')",
        "p LIKE '%x!%%y%' ESCAPE '!'",
        "hyphenated_props:my-p LIKE '%a%b'",
        "p = '" + "x" * 3000 + "'",
        "XPATH '//a'",
        "n = 1 OR n = 2 OR n = 3 OR p LIKE '%a%b'",
    ],
)
def test_a_selector_that_may_be_costly_is_refused(alice: BlockingConnection, selector: str) -> None:
    with pytest.raises(LinkDetached) as refusal:
        alice.create_receiver("allowed", options=Selector(selector))

    assert refusal.value.condition == "amqp:invalid-field"


@pytest.mark.parametrize(
    ("selector", "matches"),
    [
        ("p LIKE 'ab%'", True),
        ("p LIKE '%yz'", True),
        ("p LIKE 'ab%yz'", True),
        ("p LIKE '%mno%'", True),
        ("p LIKE '%MNO%'", False),
        ("p LIKE '%mno%' AND p LIKE '%xyz%'", True),
        ("p LIKE '_b%'", True),
        ("q LIKE '100!%%' ESCAPE '!'", True),
        ("q LIKE '%10.%'", False),  # a point is no wildcard
        ("p LIKE '%.*?.*?%'", False),  # nor is what the broker's own patterns are made of
    ],
)
def test_other_selectors_choose_as_before(
    alice: BlockingConnection, selector: str, matches: bool
) -> None:
    properties = {"p": "abcdefghijklmnopqrstuvwxyz", "q": "100%"}
    alice.create_sender("allowed").send(Message(body=selector, properties=properties))

    chosen = alice.create_receiver("allowed", name="chosen", options=Selector(selector))
    assert (chosen.receive(timeout=60).body if matches else None) == (selector if matches else None)
    if matches:
        chosen.accept()
        chosen.close()
    else:
        chosen.close()
        assert amqp.receive(alice, "allowed", 1) == [selector]


def test_an_allowed_pattern_is_quick_on_a_long_text(alice: BlockingConnection) -> None:
    alice.create_sender("allowed").send(Message(body="x", properties={"p": "a" * 90_000}))

    begin = time.monotonic()
    for number, pattern in enumerate(("%ab%", "a%b", "%b", "%aab%")):
        receiver = alice.create_receiver(
            "allowed", name=f"long-{number}", options=Selector(f"p LIKE '{pattern}'")
        )
        receiver.close()
    assert amqp.receive(alice, "allowed", 1) == ["x"]
    assert time.monotonic() - begin < 10  # backtracking over 90,000 characters takes minutes


def test_a_subscription_with_a_runaway_selector_is_refused(alice: BlockingConnection) -> None:
    with pytest.raises(LinkDetached) as durable:
        alice.create_receiver(
            "news", name="durable", options=[DurableSubscription(), Selector(RUNAWAY)]
        )
    with pytest.raises(LinkDetached) as plain:
        alice.create_receiver("news", name="plain", options=Selector(RUNAWAY))

    assert durable.value.condition == "amqp:invalid-field"
    # The broker makes an internal error of any refusal to create this queue; the text is ours.
    assert plain.value.condition == "amqp:internal-error"
    assert "LIKE pattern" in str(plain.value)


def outcome(connection: BlockingConnection, target: str | None, message: Message) -> Disposition:
    sender = connection.create_sender(target)
    delivery = sender.link.send(message)
    assert isinstance(delivery, Delivery)
    connection.wait(lambda: delivery.settled)
    sender.close()
    return delivery.remote


@pytest.mark.parametrize("anonymous", [False, True])
def test_a_queue_of_another_address_takes_no_message(
    broker: PublicBroker, alice: BlockingConnection, anonymous: bool
) -> None:
    target = "allowed::foreign"
    sent = Message(body="lost?", address=target if anonymous else None)

    found = outcome(alice, None if anonymous else target, sent)

    assert found.type == Delivery.REJECTED
    assert found.condition is not None
    assert found.condition.name == "amqp:unauthorized-access"
    assert "no such queue" in str(found.condition.description)
    amqp.send(alice, "allowed", "next")
    assert amqp.receive(alice, "allowed", 1) == ["next"]


def test_a_queue_of_the_address_itself_takes_messages(
    broker: PublicBroker, alice: BlockingConnection
) -> None:
    for target in ("news::reader", "allowed::allowed"):
        assert outcome(alice, target, amqp.message(target)).type == Delivery.ACCEPTED
        assert amqp.receive(alice, target, 1) == [target]


def seen(broker: PublicBroker) -> ConnectionSeen:
    (found,) = driver.snapshot(broker.rigged.target, addresses=()).connections
    return found


def test_connections_are_described_and_count_what_closed_links_carried(
    broker: PublicBroker, alice: BlockingConnection
) -> None:
    amqp.send(alice, "allowed", "one", "two", "three")
    assert amqp.receive(alice, "allowed", 2) == ["one", "two"]
    eventually(lambda: seen(broker).received == 2, "the acknowledgements are counted")
    idle = seen(broker)

    receiver = alice.create_receiver("allowed")
    assert receiver.receive(timeout=60).body == "three"
    unsettled = seen(broker)
    receiver.accept()
    receiver.close()  # sends the acknowledgement first
    eventually(lambda: seen(broker).received == 3, "the acknowledgement is counted")
    acknowledged = seen(broker)

    assert (idle.product, idle.user, idle.links) == (amqp.PRODUCT, "alice", 0)
    assert idle.tls.split("_")[0] in ("TLSv1.2 TLS", "TLSv1.3 TLS")
    assert (idle.sent, idle.received) == (3, 2)
    assert (unsettled.links, unsettled.received) == (1, 2)
    assert (acknowledged.links, acknowledged.received) == (0, 3)


def test_a_broker_with_an_older_plugin_leaves_the_description_unknown(
    broker: PublicBroker, alice: BlockingConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The broker refuses a resource that it does not know, as every broker did before this plugin.
    missing = Request("waypost.no-such-resource", "described")
    monkeypatch.setattr(connections, "_DESCRIBED", missing)
    sender = alice.create_sender("allowed")
    sender.send(amqp.message("one"))

    found = seen(broker)

    assert (found.product, found.tls) == ("", "")
    assert (found.user, found.links, found.sent, found.received) == ("alice", 1, 1, 0)


def test_the_broker_logs_no_error(broker: PublicBroker) -> None:
    assert [line for line in broker.log.splitlines() if " ERROR " in line] == []
