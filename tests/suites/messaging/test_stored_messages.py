"""Messages of a real broker: listed, removed, moved and resent by management, and never billed."""

from collections.abc import Iterator

import pytest
from proton import Message
from proton.utils import BlockingConnection

from controlplane.core.address_types import AddressSettings
from tests.support.messaging import amqp, public_broker
from tests.support.messaging.public_broker import PublicBroker, user
from workers.messaging import management
from workers.messaging.brokers import driver, stored_messages
from workers.messaging.brokers.desired import BrokerAddressKind, DesiredAddress
from workers.messaging.brokers.snapshot import MeteredAddress
from workers.messaging.brokers.stored_messages import MessageChanges

pytestmark = [pytest.mark.broker, pytest.mark.slow]

QUEUE, TOPIC = BrokerAddressKind.QUEUE, BrokerAddressKind.TOPIC
DEAD = AddressSettings(dead_letter="dead")
ADDRESSES = (
    DesiredAddress("orders", QUEUE, limits=DEAD),
    DesiredAddress("dead", QUEUE),
    DesiredAddress("other", QUEUE),
    DesiredAddress("news", TOPIC, limits=DEAD, subscriptions=("desk",)),
)
METERED = [
    MeteredAddress("orders", "queue"),
    MeteredAddress("dead", "queue"),
    MeteredAddress("other", "queue"),
    MeteredAddress("news", "topic"),
    MeteredAddress("desk", "subscription"),
]


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PublicBroker]:
    folder = tmp_path_factory.mktemp("stored")
    with public_broker.running(folder, ADDRESSES, [user("alice", ("#", "send recv"))]) as made:
        yield made


def billed(broker: PublicBroker) -> dict[str, tuple[int, int]]:
    seen = driver.snapshot(broker.rigged.target, addresses=METERED).addresses
    return {c.address: (c.messages_in, c.messages_out) for c in seen}


def reject(connection: BlockingConnection, address: str, count: int) -> None:
    receiver = connection.create_receiver(address, credit=count)
    for _ in range(count):
        receiver.receive(timeout=5)
        receiver.reject()
    receiver.close()


def test_messages_are_shown_and_changed_and_the_bill_stays(broker: PublicBroker) -> None:
    target = broker.rigged.target
    with broker.connected() as alice:
        desk = alice.create_receiver("news::desk", credit=0)
        desk.close()
        amqp.send(alice, "orders", *(f"m{n}" for n in range(6)))
        amqp.send(alice, "news", "n1", "n2")
        reject(alice, "orders", 4)
        reject(alice, "news::desk", 2)
    before = billed(broker)
    listed = stored_messages.list_messages(target, "dead", skip=0, count=50, timeout_seconds=5)
    assert [m.body for m in listed.messages] == ["m0", "m1", "m2", "m3", "n1", "n2"]

    with management.connected(target, purpose="test") as client:
        changes = MessageChanges(client)
        page = changes.find("dead", newest=0, skip=0, count=50)
        ids = [message.id for message in page.messages]
        assert changes.remove("dead", ids[:1]) == 1
        assert changes.remove("dead", ids[:1]) == 0  # it is gone
        assert changes.move("dead", ids[1:2], "other") == 1
        assert changes.resend("dead", ids[2:]) == 4

    assert billed(broker) == before
    with broker.connected() as alice:
        assert amqp.receive(alice, "orders", 4) == ["m4", "m5", "m2", "m3"]
        assert amqp.receive(alice, "other", 1) == ["m1"]
        assert amqp.receive(alice, "news::desk", 2) == ["n1", "n2"]
    after = billed(broker)
    assert after["orders"][1] == before["orders"][1] + 4
    assert after["other"][1] == 1
    assert after["desk"][1] == before["desk"][1] + 2


def test_every_kind_of_body_is_shown_with_a_bound(broker: PublicBroker) -> None:
    target = broker.rigged.target
    sent = [
        Message(
            body="grüße",
            id="id-1",
            priority=7,
            group_id="g",
            ttl=60,
            durable=True,
            properties={"n": 1, "t": "x", "b": True},
        ),
        Message(body=b"\xff" * 10, content_type="image/png"),
        Message(body="ü" * 5000),
        Message(body={"a": [1, 2]}),
        Message(body="y" * 400_000, durable=True, subject="large"),
        Message(body=b"\xff" * 400_000, durable=True),
    ]
    with broker.connected() as alice:
        sender = alice.create_sender("other")
        for message in sent:
            sender.send(message)

        listed = stored_messages.list_messages(target, "other", skip=0, count=9, timeout_seconds=5)

        first, binary, long, mapped, large, large_binary = listed.messages
        assert (first.body, first.group, first.priority, first.durable) == ("grüße", "g", 7, True)
        assert first.application_properties == {"n": 1, "t": "x", "b": True}
        assert first.properties["message_id"] == "id-1"
        assert first.expires_ms > 0
        assert (binary.body, binary.is_binary) == ("/////////////w==", True)
        assert binary.properties["content_type"] == "image/png"
        assert (long.body, long.is_whole) == ("ü" * 2048, False)
        assert (mapped.body, mapped.is_whole) == ("{'a': [1, 2]}", True)
        assert (large.body, large.is_whole) == ("y" * 4096, False)
        assert large.properties["subject"] == "large"
        assert large.size > 400_000
        assert (large_binary.is_binary, large_binary.is_whole) == (True, False)
        amqp.receive(alice, "other", len(sent))
