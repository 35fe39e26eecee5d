"""Metering a real space: the product's readers against a real broker, last samples at its end."""

import time
from datetime import timedelta
from pathlib import Path

import pytest
from django.db.models import F
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from controlplane.core.address_types import AddressSettings
from controlplane.core.audit import SYSTEM
from plans.catalog import publishing
from plans.models import SpacePlan
from plans.rating.periods import Period
from tenants import live_readings
from tenants.actions import address_spaces, addresses
from tenants.models import Address, AddressSpace
from tests.support.messaging import amqp
from tests.support.reconcile import patience, rows
from tests.support.waiting import eventually
from workers.metering import quality, readers, sampling, source_states, sources
from workers.metering.last_samples import LastSampler
from workers.metering.readers import Readers
from workers.models import LandingBatch, MeteredSource
from workers.reconcile.outcome import Done
from workers.reconcile.ports import Ports

pytestmark = [pytest.mark.broker, pytest.mark.slow, pytest.mark.django_db]


@pytest.fixture
def product(real_ports: Ports) -> Readers:
    return readers.product(real_ports.infra, real_ports.identities_dir, real_ports.clock)


@pytest.fixture
def ports(real_ports: Ports, product: Readers) -> Ports:
    """The real ports with the product's last samples."""
    return Ports(**{**real_ports.__dict__, "metering": LastSampler(product)})


def settle(space: AddressSpace, ports: Ports) -> None:
    outcome = patience.look(space.id, ports)
    assert isinstance(outcome, Done), outcome
    space.refresh_from_db()


def used(space: AddressSpace) -> tuple[int, int]:
    """Messages in and out over every life that was ever seen."""
    states = [sources.state_of(row) for row in MeteredSource.objects.filter(space_id=space.id)]
    return sum(s.used["messages_in"] for s in states), sum(s.used["messages_out"] for s in states)


def counted(product: Readers, space: AddressSpace) -> dict[str, tuple[int, int]]:
    """Messages in and out by address, as the space's only broker counts them now."""
    (instance,) = product.find(space).instances
    return {one.address: (one.messages_in, one.messages_out) for one in instance.read().addresses}


def test_everything_that_went_through_a_space_is_metered_to_its_end(
    ports: Ports, product: Readers, tmp_path: Path
) -> None:
    space = rows.make_space(rows.make_tenant())
    orders = rows.make_address(space, "orders")
    rows.make_address(space, "news", "topic")
    rows.make_user(space, "alice", ("#", "send recv"))
    settle(space, ports)

    with amqp.connected(space, tmp_path, "alice", rows.PASSWORD) as connection:
        amqp.send(connection, "orders", *("m" for _ in range(7)))
        receiver = connection.create_receiver("news")
        amqp.send(connection, "news", "a", "b")
        for _ in range(2):
            receiver.receive(timeout=60)
            receiver.accept()
        amqp.receive(connection, "orders", 3)
        # A broker counts a settled message once it is on its disk.
        wanted = {"orders": (7, 3), "news": (2, 2)}
        eventually(lambda: counted(product, space) == wanted, "what was settled is counted")
        [sampled] = sampling.sample_all(product)
        live = live_readings.of_spaces([space.id])[space.id]
        amqp.receive(connection, "orders", 1)
        eventually(lambda: counted(product, space)["orders"] == (7, 4), "the fourth is counted")

    assert (sampled.is_applied, sampled.silent) == (True, frozenset())
    assert used(space) == (9, 5)
    newest, news = live["orders"].gauges, live["news"].gauges
    assert (newest.depth, newest.delivering, newest.consumers) == (4, 0, 0)
    assert newest.stored_bytes
    assert newest.oldest_at is None  # these messages have no creation time
    assert (news.depth, news.consumers) == (0, 1)
    assert (newest.expired, newest.dead_lettered) == (0, 0)
    peak = MeteredSource.objects.get(space_id=space.id, boot_id=source_states.SPACE)
    assert sources.state_of(peak).counters["peak_connections"] == 1

    addresses.delete(address=Address.objects.get(pk=orders.pk), by=SYSTEM)
    settle(space, ports)  # the fourth message was received after the round above
    assert used(space) == (9, 6)

    address_spaces.delete(space=space, by=SYSTEM)
    settle(space, ports)
    assert space.deleted_at is not None
    assert used(space) == (9, 6)
    assert not MeteredSource.objects.exclude(ended_cleanly=True).exists()
    payloads = [row for batch in LandingBatch.objects.order_by("number") for row in batch.rows]
    last = {row["address"]: row for row in payloads}
    assert (last["orders"]["messages_in"], last["orders"]["messages_out"]) == (7, 4)
    assert (last["news"]["messages_in"], last["news"]["messages_out"]) == (2, 2)
    assert max(row["connections_opened"] for row in payloads) == 1


def test_the_age_of_a_message_is_known_if_its_sender_set_the_time(
    ports: Ports, product: Readers, tmp_path: Path
) -> None:
    space = rows.make_space(rows.make_tenant())
    rows.make_address(space, "orders")
    rows.make_user(space, "alice", ("#", "send recv"))
    settle(space, ports)

    with amqp.connected(space, tmp_path, "alice", rows.PASSWORD) as connection:
        message = amqp.message("m")
        message.creation_time = time.time() - 60
        connection.create_sender("orders").send(message)
        eventually(lambda: counted(product, space)["orders"] == (1, 0), "the message is stored")
        sampling.sample_all(product)

    assert 55 <= (live_readings.of_spaces([space.id])[space.id]["orders"].oldest_seconds or 0) < 120


def metrics(client: Client, name: str, space: AddressSpace, instance: str) -> float:
    """Return the value of an operators' gauge of one instance."""
    named = f'{name}{{instance="{instance}",space="{space.id}"}} '
    lines = client.get("/metrics").content.decode().splitlines()
    (value,) = [line.removeprefix(named) for line in lines if line.startswith(named)]
    return float(value)


def test_operators_see_how_full_a_broker_is(
    ports: Ports, product: Readers, settings: Settings, tmp_path: Path
) -> None:
    settings.METRICS_TOKEN = "let-me-in"
    client = Client(headers={"Authorization": "Bearer let-me-in"})
    space = rows.make_space(rows.make_tenant())
    rows.make_address(space, "orders")
    rows.make_user(space, "alice", ("#", "send recv"))
    settle(space, ports)
    sampling.sample_all(product)
    of_empty = metrics(client, "waypost_broker_memory_used_bytes", space, "broker-0")

    with amqp.connected(space, tmp_path, "alice", rows.PASSWORD) as connection:
        amqp.send(connection, "orders", *("m" * 10_000 for _ in range(20)))
        sampling.sample_all(product)

    used = metrics(client, "waypost_broker_memory_used_bytes", space, "broker-0")
    assert used >= of_empty + 20 * 10_000
    # The smallest plan's: docs/operate/sizes.md.
    limit = metrics(client, "waypost_broker_memory_limit_bytes", space, "broker-0")
    definition = publishing.space_plan_definition(space.space_plan)
    assert limit == definition.broker_message_memory_mb * 2**20

    def disk() -> float:
        sampling.sample_all(product)
        return metrics(client, "waypost_broker_disk_used_ratio", space, "broker-0")

    # A broker measures its disk every five seconds, and reports 0 until it has.
    eventually(lambda: disk() > 0, "the broker has measured its disk")
    assert disk() < 1
    assert metrics(client, "waypost_broker_disk_limit_ratio", space, "broker-0") == 0.9
    address_spaces.delete(space=space, by=SYSTEM)
    settle(space, ports)
    text = client.get("/metrics").content.decode()
    assert space.id not in text  # a broker that is gone leaves no series


@pytest.mark.drill
def test_what_a_subscription_gives_out_is_not_its_topics_too(
    ports: Ports, product: Readers, tmp_path: Path
) -> None:
    space = rows.make_space(rows.make_tenant())
    rows.make_address(space, "news", "topic")
    desk = AddressSettings(topic="news")
    rows.make_address(space, "desk", "subscription", desk)
    rows.make_user(space, "alice", ("#", "send recv"))
    settle(space, ports)

    with amqp.connected(space, tmp_path, "alice", rows.PASSWORD) as connection:
        plain = connection.create_receiver("news", credit=5)
        amqp.send(connection, "news", *("m" for _ in range(5)))
        for _ in range(4):
            plain.receive(timeout=60)
            plain.accept()
        amqp.receive(connection, "news::desk", 2)
        wanted = {"news": (5, 4), "desk": (0, 2)}
        eventually(lambda: counted(product, space) == wanted, "what was settled is counted")
        [instance] = product.find(space).instances
        stored = {one.address: one.stored_bytes for one in instance.read().addresses}

    assert stored["desk"] > 0
    assert stored["news"] < stored["desk"]  # one message, not four
    address_spaces.delete(space=space, by=SYSTEM)
    settle(space, ports)


def test_nothing_is_missed_over_an_address_recreated_and_a_planned_restart(
    ports: Ports, product: Readers, tmp_path: Path
) -> None:
    space = rows.make_space(rows.make_tenant())
    rows.make_user(space, "alice", ("#", "send recv"))
    for sent in (5, 8):  # no round sees that the first one is gone
        made = rows.make_address(space, "orders")
        settle(space, ports)
        with amqp.connected(space, tmp_path, "alice", rows.PASSWORD) as connection:
            amqp.send(connection, "orders", *("m" for _ in range(sent)))
        if sent == 5:
            addresses.delete(address=made, by=SYSTEM)
            settle(space, ports)

    AddressSpace.objects.filter(pk=space.pk).update(
        space_plan=SpacePlan.objects.get(key="brokered-medium"), generation=F("generation") + 1
    )
    settle(space, ports)
    sampling.sample_all(product)

    assert used(space) == (5 + 8, 0)
    boots = MeteredSource.objects.filter(space_id=space.id).exclude(boot_id=source_states.SPACE)
    assert boots.count() == 2
    now = timezone.now()
    around = Period(now - timedelta(days=1), now + timedelta(days=1))
    assert quality.crash_gaps(space.tenant_id, around) == ()
    address_spaces.delete(space=space, by=SYSTEM)
    settle(space, ports)
