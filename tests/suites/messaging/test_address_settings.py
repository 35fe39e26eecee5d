"""Settings of addresses, as clients of a real broker see them, and their change without a restart.

Also what needs no setting but the right order at the broker: priorities and message groups.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from proton import Message
from proton.utils import BlockingConnection, LinkDetached

from controlplane.core.address_types import AddressSettings
from controlplane.core.audit import SYSTEM
from tenants.actions import address_spaces, addresses
from tenants.models import Address, AddressSpace
from tests.support.messaging import amqp, routing_rig
from tests.support.reconcile import patience, rows
from workers.instances import Locator
from workers.messaging.brokers import driver
from workers.reconcile.outcome import Done
from workers.reconcile.ports import Ports

pytestmark = [pytest.mark.broker, pytest.mark.slow, pytest.mark.django_db]

SETTINGS = {
    "plain": AddressSettings(),
    "grouped": AddressSettings(group_rebalance="yes"),
    "one": AddressSettings(exclusive="yes"),
    "prices": AddressSettings(last_value_key="symbol"),
    "ring": AddressSettings(ring_size=2),
    "few": AddressSettings(max_consumers=1),
    "blocking": AddressSettings(when_full="block", max_bytes=20_000),
    "lasting": AddressSettings(message_ttl_min_ms=600_000, message_ttl_ms=600_000),
    "brief": AddressSettings(message_ttl_ms=1, expiry="late"),
    "default": AddressSettings(message_ttl_default_ms=1, expiry="late"),
    "slow": AddressSettings(
        redelivery_delay_ms=10, redelivery_multiplier=2, max_redelivery_delay_ms=40
    ),
}


def settle(space: AddressSpace, ports: Ports) -> None:
    outcome = patience.look(space.id, ports)
    assert isinstance(outcome, Done), outcome
    space.refresh_from_db()


@pytest.fixture
def space(real_ports: Ports) -> Iterator[AddressSpace]:
    made = rows.make_space(rows.make_tenant())
    rows.make_address(made, "late", "deadletter")
    for name, settings in SETTINGS.items():
        rows.make_address(made, name, settings=settings)
    rows.make_address(made, "news", "topic")
    rows.make_address(
        made, "inbox", "subscription", settings=AddressSettings(topic="news", max_consumers=1)
    )
    rows.make_user(made, "alice", ("#", "send recv"))
    settle(made, real_ports)
    yield made
    address_spaces.delete(space=made, by=SYSTEM)
    settle(made, real_ports)


@pytest.fixture
def alice(space: AddressSpace, tmp_path: Path) -> Iterator[BlockingConnection]:
    with amqp.connected(space, tmp_path, "alice", rows.PASSWORD) as connection:
        yield connection


def send(connection: BlockingConnection, address: str, *messages: dict[str, Any]) -> None:
    sender = connection.create_sender(address)
    for message in messages:
        sender.send(Message(durable=True, **message))
    sender.close()


def test_clients_see_each_setting(alice: BlockingConnection) -> None:
    """Orders, groups, exclusive receivers, rings, last values, lifetimes, and a full address."""
    send(alice, "plain", *({"body": p, "priority": p} for p in (1, 9, 4)))
    assert amqp.receive(alice, "plain", 3) == ["9", "4", "1"]

    send(alice, "ring", *({"body": body} for body in "abcd"))
    assert amqp.receive(alice, "ring", 2) == ["c", "d"]

    quotes = [("a", 1), ("b", 1), ("a", 2)]
    send(alice, "prices", *({"body": b, "properties": {"symbol": s}} for s, b in quotes))
    assert sorted(amqp.receive(alice, "prices", 2)) == ["1", "2"]

    send(alice, "lasting", {"body": "lasts", "ttl": 0.001})
    assert amqp.receive(alice, "lasting", 1) == ["lasts"]
    send(alice, "brief", {"body": "capped", "ttl": 600})
    send(alice, "default", {"body": "defaulted"})
    assert sorted(amqp.receive(alice, "late", 2)) == ["capped", "defaulted"]
    with pytest.raises(LinkDetached, match="unauthorized-access"):
        alice.create_sender("late")

    first, second = (alice.create_receiver("one", name=n, credit=10) for n in ("one-a", "one-b"))
    send(alice, "one", *({"body": body} for body in "abcd"))
    assert routing_rig.take(first, 4) == list("abcd")
    assert routing_rig.waiting(second) == 0

    first, second = (
        alice.create_receiver("grouped", name=n, credit=10) for n in ("group-a", "group-b")
    )
    send(alice, "grouped", *({"body": body, "group_id": body[0]} for body in ("a1", "b1", "a2")))
    send(alice, "grouped", *({"body": body, "group_id": body[0]} for body in ("b2", "a3", "b3")))
    routing_rig.settle_down(alice)
    taken = [routing_rig.take(receiver, 3) for receiver in (first, second)]
    assert sorted(taken) == [["a1", "a2", "a3"], ["b1", "b2", "b3"]]


def test_a_blocking_address_takes_messages_again_once_it_is_read(alice: BlockingConnection) -> None:
    sender = alice.create_sender("blocking")
    posted = [routing_rig.post(sender, "x" * 1000, durable=True) for _ in range(200)]
    routing_rig.settle_down(alice)
    alice.wait(lambda: posted[9].remote_state != 0)

    assert all(delivery.remote_state in (0, posted[0].remote_state) for delivery in posted)
    assert len(amqp.receive(alice, "blocking", 200)) == 200


@pytest.mark.parametrize("name", ["few", pytest.param("inbox", marks=pytest.mark.drill)])
def test_the_number_of_receivers_changes_without_a_restart(
    space: AddressSpace, alice: BlockingConnection, real_ports: Ports, name: str
) -> None:
    at = "news::inbox" if name == "inbox" else name
    (broker,) = Locator(real_ports.infra, real_ports.identities_dir).list_existing(space)
    incarnation = driver.find_incarnation(broker.target)
    alice.create_receiver(at)
    with pytest.raises(LinkDetached, match="Maximum Consumer Limit"):
        alice.create_receiver(at, name="second")
    row = Address.objects.get(space=space, address=name)

    for limit in (2, None):
        own = AddressSettings(topic="news" if name == "inbox" else "", max_consumers=limit)
        addresses.update(address=row, settings=own, by=SYSTEM)
        settle(space, real_ports)
        alice.create_receiver(at, name=f"up to {limit}")

    assert driver.find_incarnation(broker.target) == incarnation
