"""A space of a small plan is filled to every limit of size that it sells, on real engines.

Each refusal is the protocol's, and the space goes on serving what still fits.
"""

from pathlib import Path

import pytest
from django.utils import timezone
from proton import ConnectionException, Delivery, Message
from proton.utils import BlockingConnection, LinkDetached

from plans.models import AddressPlan, SpacePlan
from tenants.models import AddressSpace
from tests.support.messaging import amqp, routing_rig
from tests.support.messaging.auth_process import AuthProcess
from tests.support.reconcile import patience, rows
from workers.reconcile import space_rows
from workers.reconcile.outcome import Done
from workers.reconcile.ports import Ports

pytestmark = [
    pytest.mark.router,
    pytest.mark.broker,
    pytest.mark.slow,
    pytest.mark.django_db(transaction=True),
]

_CONNECTIONS, _BYTES = 4, 500_000
_SOLD = {
    "max_connections": _CONNECTIONS,
    "broker_memory_mb": 128,
    "broker_message_memory_mb": 16,
    "broker_disk_gb": 2,
}
_FIFTY_MB = 50_000_000


def make(kind: str, **sold: object) -> AddressSpace:
    """Return a space of a plan of these figures, with two queues, before its first pass."""
    tenant = rows.make_tenant()
    for plan in SpacePlan.objects.filter(key=f"{kind}-small"):
        plan.definition = {**plan.definition, **_SOLD, **sold}
        plan.save()
    for address_plan in AddressPlan.objects.filter(key=f"{kind}-small-queue"):
        address_plan.definition = {**address_plan.definition, "max_bytes": _BYTES}
        address_plan.save()
    made = rows.make_space(tenant, kind=kind)
    for name in ("full", "other"):
        rows.make_address(made, name, "queue")
    rows.make_user(made, "alice", ("#", "send recv"))
    return made


def fill(connection: BlockingConnection, name: str) -> str:
    """Send durable messages of 10 kB until the queue refuses one; return the condition."""
    sender = connection.create_sender(name)
    for accepted in range(400):
        delivery = routing_rig.hand_over(sender, Message(body=b"m" * 10_000, durable=True))
        if routing_rig.outcome(sender, delivery) != Delivery.ACCEPTED:
            assert accepted >= 10
            return routing_rig.condition_of(delivery)
    pytest.fail("the queue took more than it sells")


def test_a_standard_space_refuses_what_it_does_not_sell(
    auth: AuthProcess, real_ports: Ports, tmp_path: Path
) -> None:
    space = make("standard", max_message_kb=1024, max_user_connections=3)
    assert isinstance(patience.look(space.id, real_ports), Done)
    boots = boots_of(real_ports, space)

    with amqp.connected(space, tmp_path, "alice", rows.PASSWORD) as connection:
        assert fill(connection, "full") == "amqp:resource-limit-exceeded"
        amqp.send(connection, "other", "still")
        sender = connection.create_sender("other")
        assert sender.link.remote_max_message_size == 1024 * 1024
        with pytest.raises((LinkDetached, ConnectionException)):
            sender.send(Message(body=b"x" * _FIFTY_MB, durable=True))
    with (
        amqp.connected(space, tmp_path, "alice", rows.PASSWORD) as one,
        amqp.connected(space, tmp_path, "alice", rows.PASSWORD),
        amqp.connected(space, tmp_path, "alice", rows.PASSWORD),
    ):
        with (
            pytest.raises(ConnectionException, match="resource-limit-exceeded"),
            amqp.connected(space, tmp_path, "alice", rows.PASSWORD),
        ):
            pass
        assert amqp.receive(one, "other", 1) == ["still"]
    assert boots_of(real_ports, space) == boots


@pytest.mark.parametrize("persistent", [True, pytest.param(False, marks=pytest.mark.drill)])
def test_a_brokered_space_refuses_what_it_does_not_sell(
    real_ports: Ports, tmp_path: Path, *, persistent: bool
) -> None:
    space = make("brokered", broker_persistent=persistent)
    assert isinstance(patience.look(space.id, real_ports), Done)
    boots = boots_of(real_ports, space)

    with amqp.connected(space, tmp_path, "alice", rows.PASSWORD) as connection:
        assert fill(connection, "full") == "amqp:resource-limit-exceeded"
        amqp.send(connection, "other", "still")
    held = [amqp.connected(space, tmp_path, "alice", rows.PASSWORD) for _ in range(_CONNECTIONS)]
    opened = [one.__enter__() for one in held]
    with (
        pytest.raises(ConnectionException, match="resource-limit-exceeded"),
        amqp.connected(space, tmp_path, "alice", rows.PASSWORD),
    ):
        pass
    assert amqp.receive(opened[0], "other", 1) == ["still"]
    for one in held:
        one.__exit__(None, None, None)
    assert boots_of(real_ports, space) == boots


def boots_of(ports: Ports, space: AddressSpace) -> dict[str, str]:
    """Return the incarnations of the space's instances: a crash would change one."""
    rows_now = space_rows.load(space, now=timezone.now(), full=True)
    with ports.infra.open(rows_now.namespace) as session:
        return {one.name: one.boot for one in session.list_instances()}
