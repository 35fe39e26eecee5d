"""Messages of a real broker: listed, removed, moved and resent by management, and never billed."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from proton import Message
from proton.utils import BlockingConnection

from controlplane.core.address_types import AddressSettings
from tests.support.messaging import amqp, public_broker
from tests.support.messaging.public_broker import PublicBroker, user
from tests.support.waiting import eventually
from workers.messaging import management
from workers.messaging.brokers import driver, stored_messages
from workers.messaging.brokers.desired import BrokerAddressKind, DesiredAddress
from workers.messaging.brokers.snapshot import MeteredAddress
from workers.messaging.brokers.stored_messages import Listed, MessageChanges, Position, TooDeep
from workers.messaging.management import ManagementClient, Refused, Request
from workers.messaging.observed import ManagementTarget

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


def dead_letters(target: ManagementTarget) -> list[Any]:
    return [
        m.body for m in stored_messages.list_messages(target, "dead", count=50, seconds=5).messages
    ]


def reject(connection: BlockingConnection, address: str, count: int) -> None:
    receiver = connection.create_receiver(address, credit=count)
    for _ in range(count):
        receiver.receive(timeout=60)
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
    # The broker answers a close before it has done what a client settled.
    eventually(lambda: len(dead_letters(target)) == 6, "every rejected message is moved")
    before = billed(broker)
    assert dead_letters(target) == ["m0", "m1", "m2", "m3", "n1", "n2"]

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
    received = {"orders": 4, "other": 1, "desk": 2}
    expected = {name: before[name][1] + count for name, count in received.items()}
    eventually(
        lambda: expected == {name: billed(broker)[name][1] for name in received},
        "what was received is billed",
    )


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

        listed = stored_messages.list_messages(target, "other", count=9, seconds=5)

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


def walked(target: ManagementTarget, queue: str, count: int) -> list[list[str]]:
    """Return the bodies of all pages, in order."""
    pages: list[list[str]] = []
    after: Position | None = Position()
    while after is not None:
        listed = stored_messages.list_messages(target, queue, after, count=count, seconds=5)
        pages.append([str(message.body) for message in listed.messages])
        after = listed.next
    return pages


def test_pages_follow_each_other_and_end_with_the_queue(broker: PublicBroker) -> None:
    target = broker.rigged.target
    with broker.connected() as alice:
        amqp.send(alice, "other", *(f"p{n}" for n in range(7)))
        assert walked(target, "other", 3) == [["p0", "p1", "p2"], ["p3", "p4", "p5"], ["p6"]]
        assert walked(target, "other", 7) == [[f"p{n}" for n in range(7)]]
        first = stored_messages.list_messages(target, "other", count=3, seconds=5)
        assert first.next is not None
        # Two receivers of the same page: the first takes the walk, the second begins a new one.
        for _ in range(2):
            again = stored_messages.list_messages(target, "other", first.next, count=3, seconds=5)
            assert [message.body for message in again.messages] == ["p3", "p4", "p5"]
        # Messages that are gone shift no page: it begins after the last message of the one before.
        assert amqp.receive(alice, "other", 2) == ["p0", "p1"]
        again = stored_messages.list_messages(target, "other", first.next, count=3, seconds=5)
        assert [message.body for message in again.messages] == ["p3", "p4", "p5"]
        # If that one is gone too, its number counts.
        assert amqp.receive(alice, "other", 1) == ["p2"]
        again = stored_messages.list_messages(target, "other", first.next, count=3, seconds=5)
        assert [message.body for message in again.messages] == ["p6"]
        amqp.receive(alice, "other", 4)


def test_a_position_out_of_reach_is_said_and_reached_later(broker: PublicBroker) -> None:
    target, far = broker.rigged.target, Position(5)
    with broker.connected() as alice:
        amqp.send(alice, "other", *(f"f{n}" for n in range(7)))
        for passed in range(1, 5):
            with pytest.raises(TooDeep, match=f"has passed {passed} of them in 0 s"):
                stored_messages.list_messages(
                    target, "other", far, count=3, seconds=0, step_millis=0
                )
        listed = stored_messages.list_messages(
            target, "other", far, count=3, seconds=0, step_millis=0
        )
        assert [message.body for message in listed.messages] == ["f5", "f6"]
        amqp.receive(alice, "other", 7)


def test_a_broker_with_an_older_plugin_is_browsed_by_number(
    broker: PublicBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    really = ManagementClient.try_all

    def try_all(self: ManagementClient, requests: Sequence[Request]) -> list[Any]:
        older = [replace(one, operation="paged") if one.operation == "page" else one
                 for one in requests]  # fmt: skip
        return really(self, older)

    monkeypatch.setattr(ManagementClient, "try_all", try_all)
    with broker.connected() as alice:
        amqp.send(alice, "other", *(f"o{n}" for n in range(4)))
        assert walked(broker.rigged.target, "other", 3) == [["o0", "o1", "o2"], ["o3"]]
        amqp.receive(alice, "other", 4)
    with pytest.raises(Refused, match="there is no such queue"):
        walked(broker.rigged.target, "nothing", 3)


def test_the_next_page_reads_no_message_again_while_the_broker_remembers_the_last(
    broker: PublicBroker,
) -> None:
    """More messages than the broker keeps in memory, and more walks (four) than it keeps open."""
    target = broker.rigged.target
    with broker.connected() as alice:
        sender = alice.create_sender("other")
        for n in range(300):
            sender.send(Message(body=f"{n:03}" + "x" * 40_000, durable=True))
        with management.connected(target, purpose="test") as client:
            assert client.read("address.other", "Paging") is True
        begun = [
            stored_messages.list_messages(target, "other", count=10 + n, seconds=5)
            for n in range(5)
        ]
        for listed in reversed(begun[1:]):
            seen = rest(target, listed, seconds=0, step_millis=0)  # no time to walk
            assert seen == [f"{n:03}" for n in range(300)]
        with pytest.raises(TooDeep, match="begins after 10 messages, and the broker has passed 1"):
            rest(target, begun[0], seconds=0, step_millis=0)
        assert rest(target, begun[0], seconds=5, step_millis=5000) == seen
        amqp.receive(alice, "other", 300)


def rest(target: ManagementTarget, page: Listed, **patience: Any) -> list[str]:
    """Return how the bodies begin: those of the page, and of all pages after it."""
    found = [str(message.body)[:3] for message in page.messages]
    while page.next is not None:
        page = stored_messages.list_messages(target, "other", page.next, count=100, **patience)
        found += [str(message.body)[:3] for message in page.messages]
    return found
