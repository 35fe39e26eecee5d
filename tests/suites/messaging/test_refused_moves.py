"""Moves and resends that a full queue refuses change nothing: a real broker."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from proton import Delivery, Message

from controlplane.core.address_types import AddressSettings
from tests.support.messaging import amqp, public_broker, routing_rig
from tests.support.messaging.public_broker import PublicBroker
from tests.support.waiting import eventually
from workers.messaging import management
from workers.messaging.brokers.desired import BrokerAddressKind, DesiredAddress
from workers.messaging.brokers.stored_messages import MessageChanges
from workers.messaging.brokers.tables import BrokerTables
from workers.messaging.management import Refused

pytestmark = [pytest.mark.broker, pytest.mark.slow]

QUEUE = BrokerAddressKind.QUEUE
BODY = "x" * 1500
ALICE = public_broker.user("alice", ("#", "send recv"))
ADDRESSES = (
    DesiredAddress("dead", QUEUE, AddressSettings(max_bytes=10_000_000)),
    DesiredAddress("orders", QUEUE, AddressSettings(max_bytes=20_000, dead_letter="dead")),
)
CHANGES: Sequence[Callable[[MessageChanges, Sequence[int]], int]] = (
    lambda changes, ids: changes.resend("dead", ids),
    lambda changes, ids: changes.move("dead", ids, "orders"),
)


def counts(broker: PublicBroker) -> dict[str, tuple[int, int]]:
    """Return {queue: (messages, those of them in delivery)}."""
    with management.connected(broker.rigged.target, purpose="test") as connection:
        rows = BrokerTables(connection).rows("listQueues")
        return {
            row["name"]: (int(row["messageCount"]), int(row["deliveringCount"]))
            for row in rows
            if row["name"] in ("orders", "dead")
        }


def fill(broker: PublicBroker) -> int:
    """Send to ``orders`` until it refuses a message; return how many it took."""
    with broker.connected() as connection:
        sender = connection.create_sender("orders")
        for n in range(100):
            delivery = routing_rig.hand_over(sender, Message(body=BODY, durable=True))
            if routing_rig.outcome(sender, delivery) != Delivery.ACCEPTED:
                return n
    raise AssertionError("orders is never full")


def test_a_move_that_a_full_queue_refuses_changes_nothing(tmp_path: Path) -> None:
    with public_broker.running(tmp_path, ADDRESSES, [ALICE]) as broker:
        with broker.connected() as connection:
            amqp.send(connection, "orders", *("d" * 1500 for _ in range(3)))
            receiver = connection.create_receiver("orders", credit=3)
            for _ in range(3):
                receiver.receive(timeout=60)
                receiver.reject()
        eventually(lambda: counts(broker).get("dead") == (3, 0), "three dead letters are stored")
        n_stored = fill(broker)
        full = {"orders": (n_stored, 0), "dead": (3, 0)}
        with management.connected(broker.rigged.target, purpose="test") as client:
            changes = MessageChanges(client)
            found = changes.find("dead", newest=0, skip=0, count=9).messages
            ids = [message.id for message in found]
            for change in CHANGES:
                with pytest.raises(Refused, match=r"^Address orders is full"):
                    change(changes, ids)
                assert counts(broker) == full
            with pytest.raises(Refused, match=r'orders"? is full'):
                changes.send("orders", Message(body=BODY, durable=True).encode())
            assert counts(broker) == full

            with broker.connected() as connection:
                amqp.receive(connection, "orders", n_stored)
            assert changes.move("dead", ids[:1], "orders") == 1
            assert changes.resend("dead", ids) == 2
        assert counts(broker) == {"orders": (3, 0), "dead": (0, 0)}
        with broker.connected() as connection:
            assert amqp.receive(connection, "orders", 3) == ["d" * 1500] * 3
