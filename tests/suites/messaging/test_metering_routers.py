"""Metering of standard spaces, on each engine: what clients did is counted once."""

from functools import partial
from pathlib import Path

import pytest
from proton import Delivery, Link

from controlplane.core.address_types import AddressSettings
from controlplane.core.audit import SYSTEM
from tenants import live_readings
from tenants.actions import address_spaces
from tenants.models import AddressSpace
from tests.support.messaging import amqp, routing_rig
from tests.support.messaging.auth_process import AuthProcess
from tests.support.reconcile import patience, rows
from workers.metering import readers, sampling, sources
from workers.metering.last_samples import LastSampler
from workers.metering.readers import Readers
from workers.models import LandingBatch, MeteredSource
from workers.reconcile.outcome import Done
from workers.reconcile.ports import Ports

pytestmark = [
    pytest.mark.router,
    pytest.mark.broker,
    pytest.mark.slow,
    pytest.mark.django_db(transaction=True),
]
EACH_ENGINE = pytest.mark.parametrize("router_engine", routing_rig.ENGINES)
# The development router runs alone.
MESHING = [engine for engine in routing_rig.ENGINES if engine != "devrouter"]


@pytest.fixture
def product(real_ports: Ports) -> Readers:
    return readers.product(real_ports.infra, real_ports.identities_dir, real_ports.clock)


@pytest.fixture
def ports(real_ports: Ports, product: Readers) -> Ports:
    """The real ports, with the product's last samples."""
    return Ports(**{**real_ports.__dict__, "metering": LastSampler(product)})


def make_space(ports: Ports, size: str) -> AddressSpace:
    made = rows.make_space(rows.make_tenant(), kind="standard", size=size)
    for name, type_ in (
        ("calls", "anycast"),
        ("weather", "multicast"),
        ("orders", "queue"),
        ("news", "topic"),
    ):
        rows.make_address(made, name, type_)
    rows.make_address(made, "desk", "subscription", AddressSettings(topic="news"))
    rows.make_user(made, "alice", ("#", "send recv"))
    settle(made, ports)
    return made


def settle(space: AddressSpace, ports: Ports) -> None:
    outcome = patience.look(space.id, ports)
    assert isinstance(outcome, Done), outcome
    space.refresh_from_db()


def has_credit(link: Link) -> bool:
    return bool(link.credit > 1)


def exchange(
    space: AddressSpace, folder: Path, sends_at: str, receives_at: str, product: Readers
) -> None:
    """Send two messages to every address, read them, and take a sample.

    The sample comes before the clients leave: what a plain subscription gave out since the last
    sample goes with it (docs/lakehouse.md).
    """
    with (
        amqp.connected(space, folder, "alice", rows.PASSWORD, 20, sends_at) as sending,
        amqp.connected(space, folder, "alice", rows.PASSWORD, 20, receives_at) as receiving,
    ):
        for address in ("calls", "weather", "orders", "news"):
            receiver = receiving.create_receiver(address, credit=5)
            sender = sending.create_sender(address)
            sending.wait(partial(has_credit, sender.link), timeout=60)
            posted = [routing_rig.post(sender, number, durable=True) for number in range(2)]
            routing_rig.flush(sending)
            assert sorted(routing_rig.take(receiver, 2)) == [0, 1]
            assert {routing_rig.outcome(sender, delivery) for delivery in posted} == {
                Delivery.ACCEPTED
            }
        desk = receiving.create_receiver("news::desk", credit=5)
        assert len(routing_rig.take(desk, 2)) == 2
        routing_rig.settle_down(sending, receiving)
        [sampled] = sampling.sample_all(product)
        assert sampled.is_applied


def counted() -> dict[str, tuple[int, int]]:
    """Return what was landed last of each address, summed over the instances of the space."""
    last: dict[tuple[str, str], tuple[int, int]] = {}
    for batch in LandingBatch.objects.order_by("id"):
        for row in batch.rows:
            last[row["source"], row["address"]] = (row["messages_in"], row["messages_out"])
    found: dict[str, tuple[int, int]] = {}
    for (_, address), (came, went) in last.items():
        before = found.get(address, (0, 0))
        found[address] = (before[0] + came, before[1] + went)
    return {address: figures for address, figures in found.items() if address}


EXPECTED = {
    "calls": (2, 2),
    "weather": (2, 2),
    "orders": (2, 2),
    "news": (2, 2),
    "desk": (0, 2),
}


@EACH_ENGINE
def test_everything_that_went_through_a_standard_space_is_metered_once(
    auth: AuthProcess, ports: Ports, product: Readers, tmp_path: Path
) -> None:
    space = make_space(ports, "small")

    exchange(space, tmp_path, "amqps", "amqps", product)
    live = {n: r.gauges for n, r in live_readings.of_spaces([space.id])[space.id].items()}
    address_spaces.delete(space=space, by=SYSTEM)
    settle(space, ports)

    assert counted() == EXPECTED
    states = [sources.state_of(row) for row in MeteredSource.objects.filter(space_id=space.id)]
    assert (
        sum(s.used["messages_in"] for s in states),
        sum(s.used["messages_out"] for s in states),
    ) == (8, 10)
    # The router's health was stored with its last sample, before its space was deleted.
    health = {s.source.rpartition("/")[2]: s.health for s in states}
    assert health["router-0"]["links"] > 0
    assert health["router-0"]["neighbors"] == 0
    assert "memory_used" in health["broker-0"]
    # A router cannot know what is stored, and its links at a broker are no receivers.
    assert (live["calls"].depth, live["calls"].stored_bytes) == (None, None)
    assert live["orders"].depth == 0
    assert {name: gauges.consumers for name, gauges in live.items()} == dict.fromkeys(EXPECTED, 1)


@pytest.mark.parametrize("router_engine", MESHING)
def test_what_crosses_two_routers_is_metered_once(
    auth: AuthProcess, ports: Ports, product: Readers, tmp_path: Path
) -> None:
    space = make_space(ports, "large")

    exchange(space, tmp_path, "amqps", "amqps-1", product)
    address_spaces.delete(space=space, by=SYSTEM)
    settle(space, ports)

    assert counted() == EXPECTED
