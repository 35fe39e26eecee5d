"""Dead letters of a standard space: no rejected or expired message is lost; real engines."""

from pathlib import Path

import pytest
from proton import Message
from proton.utils import LinkDetached

from controlplane.core.address_types import AddressSettings
from controlplane.core.audit import SYSTEM
from controlplane.core.instance_names import Kind
from tenants.actions import addresses
from tenants.models import AddressSpace
from tests.support.messaging import amqp, routing_rig
from tests.support.messaging.auth_process import AuthProcess
from tests.support.reconcile import patience, rows
from tests.support.waiting import eventually
from workers.instances import Locator
from workers.messaging.brokers import driver
from workers.messaging.brokers.snapshot import MeteredAddress
from workers.reconcile.outcome import Done
from workers.reconcile.ports import Ports

pytestmark = [
    pytest.mark.router,
    pytest.mark.broker,
    pytest.mark.slow,
    # Real transactions: the auth service is another process and must see the rows.
    pytest.mark.django_db(transaction=True),
    pytest.mark.parametrize("router_engine", routing_rig.ENGINES),
]


def settle(space: AddressSpace, ports: Ports) -> None:
    outcome = patience.look(space.id, ports)
    assert isinstance(outcome, Done), outcome
    space.refresh_from_db()


def test_rejected_and_expired_messages_are_kept_and_not_billed_as_sent(
    auth: AuthProcess, real_ports: Ports, tmp_path: Path
) -> None:
    space = rows.make_space(rows.make_tenant(), kind="standard")
    rows.make_address(space, "dead", "deadletter")
    rows.make_address(
        space, "orders", settings=AddressSettings(dead_letter="dead", max_delivery_attempts=2)
    )
    news = rows.make_address(space, "news", "topic")
    rows.make_address(space, "inbox", "subscription", settings=AddressSettings(topic="news"))
    rows.make_user(space, "alice", ("#", "send recv"))
    settle(space, real_ports)
    # A running space takes a new target without a restart.
    settings = AddressSettings(expiry="dead", message_ttl_ms=1)
    addresses.update(address=news, settings=settings, by=SYSTEM)
    settle(space, real_ports)

    with amqp.connected(space, tmp_path, "alice", rows.PASSWORD) as connection:
        with pytest.raises(LinkDetached, match="unauthorized-access"):
            connection.create_sender("dead")
        amqp.send(connection, "orders", "rejected", "failed twice")
        receiver = connection.create_receiver("orders", credit=10)
        receiver.receive(timeout=60)
        receiver.reject()
        for _attempt in range(2):
            receiver.receive(timeout=60)
            routing_rig.fail(receiver)
        receiver.close()
        assert amqp.receive(connection, "dead", 2) == ["rejected", "failed twice"]
        sender = connection.create_sender("orders")
        sender.send(Message(body="expired", ttl=0.001, durable=True))
        amqp.send(connection, "news", "expired too")
        assert sorted(amqp.receive(connection, "dead", 2)) == ["expired", "expired too"]

    (found,) = (
        located
        for located in Locator(real_ports.infra, real_ports.identities_dir).list_existing(space)
        if located.id.kind is Kind.BROKER
    )
    metered = [MeteredAddress(row.address, row.type) for row in space.addresses.all()]
    wanted = {"dead": (0, 4), "orders": (3, 0), "news": (1, 0), "inbox": (0, 0)}

    def is_counted() -> bool:  # once it is on the broker's disk
        seen = driver.snapshot(found.target, addresses=metered).addresses
        return {one.address: (one.messages_in, one.messages_out) for one in seen} == wanted

    eventually(is_counted, f"the broker counts {wanted}")
