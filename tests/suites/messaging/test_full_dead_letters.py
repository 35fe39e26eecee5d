"""Dead letters beyond the size of their target: none is lost; real broker."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from proton import Delivery, Message, ProtonException

from controlplane.core.address_types import AddressSettings
from tests.support.messaging import amqp, public_broker, routing_rig
from tests.support.messaging.public_broker import PublicBroker
from tests.support.waiting import eventually
from workers.messaging import management
from workers.messaging.brokers.desired import (
    BrokerAddressKind,
    BrokerSizes,
    DesiredAddress,
    DesiredBroker,
)
from workers.messaging.brokers.tables import BrokerTables

pytestmark = [pytest.mark.broker, pytest.mark.slow]

MESSAGES = 40
BODY = "x" * 1500
FULL = AddressSettings(max_bytes=20_000)  # a dozen of these messages
ALICE = public_broker.user("alice", ("#", "send recv"))
DEAD = DesiredAddress("dead", BrokerAddressKind.QUEUE, FULL, read_only=True)
ORDERS = DesiredAddress(
    "orders",
    BrokerAddressKind.QUEUE,
    AddressSettings(max_bytes=10_000_000, dead_letter="dead", expiry="dead"),
)


def stored(broker: PublicBroker) -> dict[str, int]:
    """Return how many messages each queue holds, with those in delivery."""
    with management.connected(broker.rigged.target, purpose="test") as connection:
        rows = BrokerTables(connection).rows("listQueues")
        return {
            row["name"]: int(row["messageCount"])
            for row in rows
            if row["name"] in ("orders", "dead")
        }


def send(broker: PublicBroker) -> None:
    with broker.connected() as connection:
        sender = connection.create_sender("orders")
        for _ in range(MESSAGES):
            sender.send(Message(body=BODY, durable=True))


def reject(broker: PublicBroker, messages: int = MESSAGES) -> None:
    with broker.connected() as connection:
        receiver = connection.create_receiver("orders", credit=messages)
        for _ in range(messages):
            receiver.receive(timeout=60)
            receiver.reject()


def await_stored(broker: PublicBroker, **wanted: int) -> None:
    eventually(lambda: stored(broker) == wanted, f"{wanted} are stored")


def restart(broker: PublicBroker) -> None:
    broker.rigged.kill()
    broker.rigged.start()


def expire(broker: PublicBroker) -> None:
    """End the lifetime of all messages of ``orders`` that no receiver has."""
    with management.connected(broker.rigged.target, purpose="expire") as connection:
        connection.call("queue.orders", "expireMessages", "")


def refusal(broker: PublicBroker) -> str:
    """Return the condition with which a message to ``orders`` is refused; empty if it is not."""
    with broker.connected() as connection:
        sender = connection.create_sender("orders")
        delivery = routing_rig.hand_over(sender, Message(body=BODY, durable=True))
        if routing_rig.outcome(sender, delivery) == Delivery.ACCEPTED:
            return ""
        return routing_rig.condition_of(delivery)


def test_a_full_dead_letter_address_takes_all_that_is_rejected_or_expires(tmp_path: Path) -> None:
    with public_broker.running(tmp_path, [DEAD, ORDERS], [ALICE]) as broker:
        send(broker)
        send(broker)
        reject(broker)
        await_stored(broker, orders=MESSAGES, dead=MESSAGES)

        expire(broker)
        await_stored(broker, orders=0, dead=2 * MESSAGES)

        restart(broker)
        await_stored(broker, orders=0, dead=2 * MESSAGES)
        with broker.connected() as connection:
            receiver = connection.create_receiver("dead", credit=2 * MESSAGES)
            for _ in range(2 * MESSAGES):
                assert receiver.receive(timeout=60).body == BODY
                receiver.accept()


def test_addresses_take_no_messages_while_their_dead_letters_are_full(tmp_path: Path) -> None:
    other = DesiredAddress("other", BrokerAddressKind.QUEUE, AddressSettings(max_bytes=10_000_000))
    with public_broker.running(tmp_path, [DEAD, ORDERS, other], [ALICE]) as broker:
        send(broker)
        before = refusal(broker)
        reject(broker)
        await_stored(broker, orders=1, dead=MESSAGES)

        assert (before, refusal(broker)) == ("", "amqp:resource-limit-exceeded")
        with broker.connected() as connection:
            amqp.send(connection, "other", "has no dead letters")
            assert len(amqp.receive(connection, "dead", MESSAGES)) == MESSAGES
        await_stored(broker, orders=1, dead=0)
        assert refusal(broker) == ""


@pytest.mark.drill
def test_a_broker_without_a_disk_takes_them_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_memory: Sequence[DesiredAddress] = [replace(at, in_memory=True) for at in (DEAD, ORDERS)]
    sizes = BrokerSizes(message_memory_mb=48, persistent=False)
    sized = partial(DesiredBroker, sizes=sizes)
    monkeypatch.setattr("tests.support.messaging.public_broker.DesiredBroker", sized)

    with public_broker.running(tmp_path, in_memory, [ALICE]) as broker:
        send(broker)
        reject(broker)

        await_stored(broker, orders=0, dead=MESSAGES)


def test_what_a_full_queue_does_not_take_is_there_again_after_a_restart(tmp_path: Path) -> None:
    queue = replace(DEAD, read_only=False)
    with public_broker.running(tmp_path, [queue, ORDERS], [ALICE]) as broker:
        send(broker)
        with suppress(ProtonException):  # the broker closes the connection, now or at its end
            reject(broker)
        eventually(lambda: stored(broker)["dead"] > 0, "some are moved")
        restart(broker)
        kept = stored(broker)
        assert kept["orders"] > 0
        assert sum(kept.values()) == MESSAGES
        with broker.connected() as connection:
            receiver = connection.create_receiver("orders", credit=MESSAGES)
            for _ in range(kept["orders"]):
                assert receiver.receive(timeout=60).body == BODY
                receiver.accept()


@pytest.mark.drill
def test_a_target_that_was_full_drops_nothing_after_its_limit_is_gone(tmp_path: Path) -> None:
    """A broker that loses a reached limit while it runs, and is given no other, drops messages."""
    queue = replace(DEAD, read_only=False)
    with public_broker.running(tmp_path, [queue, ORDERS], [ALICE]) as broker:
        send(broker)
        send(broker)
        with suppress(ProtonException):
            reject(broker)
        eventually(lambda: stored(broker)["dead"] > 0, "some are moved")
        before = stored(broker)
        assert before["orders"] > MESSAGES

        broker.rigged.hold(DEAD, ORDERS)
        expire(broker)

        await_stored(broker, orders=before["orders"] - MESSAGES, dead=before["dead"] + MESSAGES)
