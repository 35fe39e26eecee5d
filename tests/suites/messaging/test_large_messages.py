"""Large messages through a brokered space: they come back whole, and the broker stays up."""

import hashlib
import random
from collections.abc import Iterator

import pytest
from proton import Delivery, Message

from tests.support.messaging import amqp, public_broker
from tests.support.messaging.public_broker import PublicBroker, user
from workers.messaging.brokers.desired import BrokerAddressKind, DesiredAddress

pytestmark = [pytest.mark.broker, pytest.mark.slow]

_MEGABYTE = 1_000_000
# What a client waits for an outcome. proton and Qpid JMS wait for ever unless told otherwise.
_CLIENT_SECONDS = 60


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PublicBroker]:
    addresses = [DesiredAddress("large", BrokerAddressKind.QUEUE)]
    users = [user("alice", ("large", "send recv"))]
    with public_broker.running(tmp_path_factory.mktemp("large"), addresses, users) as made:
        yield made


@pytest.mark.parametrize("megabytes", [5, pytest.param(50, marks=pytest.mark.drill)])
def test_a_large_message_is_delivered(broker: PublicBroker, megabytes: int) -> None:
    body = random.Random(megabytes).randbytes(megabytes * _MEGABYTE)

    with broker.connected(timeout=_CLIENT_SECONDS) as connection:
        sender = connection.create_sender("large")
        assert sender.send(Message(body=body, durable=True)).remote_state == Delivery.ACCEPTED
        receiver = connection.create_receiver("large", credit=1)
        found = amqp.receive_body(receiver)
        receiver.accept()

    assert hashlib.sha256(found).digest() == hashlib.sha256(body).digest()
    assert [line for line in broker.log.splitlines() if " ERROR " in line] == []
