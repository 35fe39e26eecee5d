"""Real brokers take another size on one at a time, and keep what they store."""

from pathlib import Path

import pytest
from django.db.models import F

from controlplane.core.instance_names import Kind
from plans.models import SpacePlan
from tenants.models import AddressSpace, Broker
from tests.support.messaging import amqp
from tests.support.reconcile import patience, rows
from workers.instances import Locator
from workers.messaging.brokers import driver
from workers.messaging.management import Unreachable
from workers.reconcile import loop
from workers.reconcile.outcome import Done
from workers.reconcile.ports import Ports

pytestmark = [pytest.mark.broker, pytest.mark.slow, pytest.mark.drill, pytest.mark.django_db]


def lives(space: AddressSpace, ports: Ports) -> dict[str, str]:
    """Return the life of each broker that answers."""
    found = {}
    for instance in Locator(ports.infra, ports.identities_dir).list_existing(space):
        assert instance.id.kind is Kind.BROKER
        try:
            found[instance.id.name] = driver.find_incarnation(instance.target)
        except Unreachable:
            continue
    return found


def test_another_size_reaches_one_broker_at_a_time(real_ports: Ports, tmp_path: Path) -> None:
    space = rows.make_space(rows.make_tenant())
    Broker.objects.create(space=space, ordinal=1)
    rows.make_address(space, "orders")
    rows.make_user(space, "alice", ("#", "send recv"))
    assert isinstance(patience.look(space.id, real_ports), Done)
    with amqp.connected(space, tmp_path, "alice", rows.PASSWORD) as connection:
        amqp.send(connection, "orders", *map(str, range(20)))
    before = lives(space, real_ports)
    AddressSpace.objects.filter(pk=space.pk).update(
        space_plan=SpacePlan.objects.get(key="brokered-medium"), generation=F("generation") + 1
    )

    seen = []
    for _ in range(200):
        outcome = loop.reconcile(space.id, real_ports, budget_seconds=0.5)
        seen.append(lives(space, real_ports))
        if isinstance(outcome, Done):
            break

    assert set(before) == {"broker-0", "broker-1"}
    assert all(seen), "there was a moment without any broker"
    for name, incarnation in before.items():
        history = [incarnation, *(look[name] for look in seen if name in look)]
        assert len(dict.fromkeys(history)) == 2, "each restarts, and once"
    first = next(look for look in seen if look.get("broker-0") != before["broker-0"])
    assert first.get("broker-1") == before["broker-1"], "the second waits for the first"
    with amqp.connected(space, tmp_path, "alice", rows.PASSWORD) as connection:
        assert amqp.receive(connection, "orders", 20) == [str(number) for number in range(20)]
