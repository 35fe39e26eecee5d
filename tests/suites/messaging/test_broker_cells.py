"""The cells of brokered spaces in docs/messaging.md, "Refusals", that no other test covers."""

from collections.abc import Iterator
from typing import Any

import pytest
from proton import Delivery, Described, Link, Message, Terminus, symbol
from proton.reactor import Copy, Selector, SenderOption
from proton.utils import BlockingConnection, BlockingSender

from tests.support.messaging import amqp, public_broker, routing_rig
from tests.support.messaging.public_broker import PublicBroker, user
from workers.messaging.brokers.desired import BrokerAddressKind, DesiredAddress

pytestmark = [pytest.mark.broker, pytest.mark.slow]

_TRANSACTIONAL = 0x34  # the type of a delivery's state. Source: AMQP 1.0, part 4, section 4.5.8


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PublicBroker]:
    queues = [DesiredAddress(name, BrokerAddressKind.QUEUE) for name in ("calls", "secret")]
    users = [user("alice", ("calls", "send recv"))]
    with public_broker.running(tmp_path_factory.mktemp("cells"), queues, users) as made:
        yield made


@pytest.fixture
def alice(broker: PublicBroker) -> Iterator[BlockingConnection]:
    with broker.connected() as connection:
        yield connection


def test_an_anonymous_sender_is_checked_with_each_message(alice: BlockingConnection) -> None:
    sender = alice.create_sender(None)

    allowed = routing_rig.hand_over(sender, Message(address="calls", body="allowed"))
    refused = routing_rig.hand_over(sender, Message(address="secret", body="not granted"))

    assert routing_rig.outcome(sender, allowed) == Delivery.ACCEPTED
    assert routing_rig.outcome(sender, refused) == Delivery.REJECTED
    assert routing_rig.condition_of(refused) == "amqp:unauthorized-access"
    assert amqp.receive(alice, "calls", 1) == ["allowed"]


def test_a_browser_and_a_selector_take_nothing_else(alice: BlockingConnection) -> None:
    sender = alice.create_sender("calls")
    for number in (1, 2):
        sender.send(Message(body=f"k{number}", properties={"k": number}, durable=True))

    browser = alice.create_receiver("calls", name="browser", credit=2, options=Copy())
    seen = routing_rig.take(browser, 2)
    browser.close()
    chosen = alice.create_receiver("calls", name="chosen", credit=2, options=Selector("k = 2"))
    picked = routing_rig.take(chosen, 1)
    chosen.close()

    assert seen == ["k1", "k2"]
    assert picked == ["k2"]
    assert amqp.receive(alice, "calls", 1) == ["k1"]


class _Waypoint(SenderOption):
    """Ask for a capability that means something to routers only."""

    def apply(self, link: Link) -> None:
        link.target.capabilities.put_object(symbol("qd.waypoint"))


def test_a_capability_of_routers_means_nothing(alice: BlockingConnection) -> None:
    alice.create_sender("calls", options=_Waypoint()).send(Message(body="plain", durable=True))

    assert amqp.receive(alice, "calls", 1) == ["plain"]


class _Coordinator(SenderOption):
    """Ask for a transaction coordinator. Source: AMQP 1.0, part 4, section 4.5.1."""

    def apply(self, link: Link) -> None:
        link.target.type = Terminus.COORDINATOR


def _told(coordinator: BlockingSender, request: str, *values: Any) -> Delivery:
    body = Described(symbol(f"amqp:{request}:list"), list(values))
    delivery = routing_rig.hand_over(coordinator, Message(body=body))
    coordinator.connection.wait(lambda: delivery.updated or delivery.settled, timeout=60)
    return delivery


def test_a_transaction_is_kept_or_undone_as_a_whole(alice: BlockingConnection) -> None:
    coordinator = alice.create_sender(None, name="coordinator", options=_Coordinator())
    sender = alice.create_sender("calls")

    for body, is_undone in (("undone", True), ("kept", False)):
        declared = _told(coordinator, "declare", None).remote.data
        assert declared is not None
        transaction = declared[0]
        delivery = sender.link.send(Message(body=body, durable=True))
        assert isinstance(delivery, Delivery)
        delivery.local.data = [transaction]
        delivery.update(_TRANSACTIONAL)
        routing_rig.flush(alice)
        ended = _told(coordinator, "discharge", transaction, is_undone)
        assert ended.remote_state == Delivery.ACCEPTED

    receiver = alice.create_receiver("calls", credit=5)
    assert routing_rig.take(receiver, 1) == ["kept"]
    routing_rig.settle_down(alice)
    assert routing_rig.waiting(receiver) == 0
