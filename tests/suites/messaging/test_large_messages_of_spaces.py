"""Messages of 5 MB and 50 MB in a space of each type: delivered or refused, in a client's time.

The plans are the small ones that ship with Waypost. No client waits for its time-out.
"""

import hashlib
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from proton import ConnectionException, Delivery, Message
from proton.utils import LinkDetached

from controlplane.core.audit import SYSTEM
from tenants.actions import address_spaces
from tenants.models import AddressSpace
from tests.support.messaging import amqp
from tests.support.messaging.auth_process import AuthProcess
from tests.support.reconcile import patience, rows
from workers.reconcile.outcome import Done
from workers.reconcile.ports import Ports

pytestmark = [
    pytest.mark.router,
    pytest.mark.broker,
    pytest.mark.slow,
    pytest.mark.django_db(transaction=True),
]
_CLIENT_SECONDS = 60
_FIVE_MB, _FIFTY_MB = 5_000_000, 50_000_000


@pytest.fixture(params=[pytest.param("standard", marks=pytest.mark.drill), "brokered"])
def space(
    auth: AuthProcess, real_ports: Ports, request: pytest.FixtureRequest
) -> Iterator[AddressSpace]:
    made = rows.make_space(rows.make_tenant(), kind=request.param)
    for name in ("large", "other"):
        rows.make_address(made, name)
    rows.make_user(made, "alice", ("#", "send recv"))
    assert isinstance(patience.look(made.id, real_ports), Done)
    yield made
    address_spaces.delete(space=made, by=SYSTEM)
    patience.look(made.id, real_ports)


def test_five_are_delivered_and_fifty_are_refused(space: AddressSpace, tmp_path: Path) -> None:
    body = random.Random(5).randbytes(_FIVE_MB)

    with amqp.connected(
        space, tmp_path, "alice", rows.PASSWORD, timeout=_CLIENT_SECONDS
    ) as connection:
        sender = connection.create_sender("large")
        assert sender.send(Message(body=body, durable=True)).remote_state == Delivery.ACCEPTED
        receiver = connection.create_receiver("large", credit=1)
        found = amqp.receive_body(receiver)
        receiver.accept()
        assert hashlib.sha256(found).digest() == hashlib.sha256(body).digest()

        announced = sender.link.remote_max_message_size
        assert announced is not None
        assert 0 < announced < _FIFTY_MB
        # A router closes the connection too, so its reason may be lost on the way.
        reason = "message-size-exceeded" if space.type == "brokered" else "."
        with pytest.raises((LinkDetached, ConnectionException), match=reason):
            sender.send(Message(body=b"x" * _FIFTY_MB, durable=True))

    with amqp.connected(space, tmp_path, "alice", rows.PASSWORD) as connection:
        amqp.send(connection, "other", "goes on")
        assert amqp.receive(connection, "other", 1) == ["goes on"]
