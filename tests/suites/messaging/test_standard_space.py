"""A standard space from rows to real clients: router, broker, auth service and database."""

import os
import signal
from pathlib import Path

import pytest
from proton import ConnectionException, Delivery, Endpoint, Message
from proton.utils import LinkDetached

from controlplane.core.audit import SYSTEM
from controlplane.core.instance_names import Kind
from tenants.actions import address_spaces, addresses, messaging_users, restrictions
from tenants.actions.restrictions import Restrictions
from tenants.models import Address, AddressSpace
from tests.support.messaging import amqp, routing_rig
from tests.support.messaging.auth_process import AuthProcess
from tests.support.reconcile import patience, rows
from tests.support.sessions import listed
from tests.support.waiting import eventually
from workers.instances import Locator
from workers.messaging.observed import ManagementTarget
from workers.messaging.routers import config
from workers.reconcile import loop, space_rows
from workers.reconcile.management import Targets
from workers.reconcile.outcome import Done
from workers.reconcile.ports import Ports
from workers.reconcile.space_keys import SpaceKeys

# Real transactions: the auth service is another process and must see the rows.
pytestmark = [
    pytest.mark.router,
    pytest.mark.broker,
    pytest.mark.slow,
    pytest.mark.django_db(transaction=True),
    pytest.mark.parametrize("router_engine", routing_rig.ENGINES),
]


@pytest.fixture
def space(auth: AuthProcess, real_ports: Ports) -> AddressSpace:
    made = rows.make_space(rows.make_tenant(), kind="standard")
    rows.make_address(made, "calls", "anycast")
    rows.make_address(made, "weather", "multicast")
    rows.make_address(made, "orders", "queue")
    rows.make_address(made, "news", "topic")
    rows.make_user(made, "alice", ("#", "send recv"))
    rows.make_user(made, "reader", ("orders", "recv"))
    outcome = patience.look(made.id, real_ports)
    assert isinstance(outcome, Done), outcome
    made.refresh_from_db()
    return made


def test_space_serves_all_four_shapes_and_refuses_what_was_not_granted(
    space: AddressSpace, tmp_path: Path
) -> None:
    assert set(space.addresses.values_list("phase", flat=True)) == {"Active"}
    with (
        amqp.connected(space, tmp_path, "alice", rows.PASSWORD) as sending,
        amqp.connected(space, tmp_path, "alice", rows.PASSWORD) as receiving,
    ):
        for address in ("calls", "weather", "news"):
            receiver = receiving.create_receiver(address, credit=2)
            sender = sending.create_sender(address)
            posted = routing_rig.post(sender, address, durable=True)
            assert routing_rig.take(receiver, 1) == [address]
            assert routing_rig.outcome(sender, posted) == Delivery.ACCEPTED
        amqp.send(sending, "orders", "one", "two")
        assert amqp.receive(receiving, "orders", 2) == ["one", "two"]
    with amqp.connected(space, tmp_path, "reader", rows.PASSWORD) as reading:
        with pytest.raises(LinkDetached, match="unauthorized-access"):
            reading.create_sender("orders")
        with pytest.raises(LinkDetached, match="unauthorized-access"):
            reading.create_receiver("calls")
    with (
        pytest.raises(ConnectionException, match="unauthorized-access"),
        amqp.connected(space, tmp_path, "alice", "wrong password"),
    ):
        pass


def test_changes_of_users_hold_for_open_connections(
    space: AddressSpace, real_ports: Ports, tmp_path: Path
) -> None:
    alice = space.users.get(name="alice")
    with amqp.connected(space, tmp_path, "alice", rows.PASSWORD) as connection:
        sender = connection.create_sender("orders")
        restrictions.withdraw_send(space=space, by=SYSTEM, reason="quota")
        assert isinstance(patience.look(space.id, real_ports), Done)
        with pytest.raises((ConnectionException, LinkDetached)):
            sender.send(Message(body="too late", durable=True))
    with amqp.connected(space, tmp_path, "alice", rows.PASSWORD) as connection:
        assert connection.create_receiver("orders").link.state & Endpoint.REMOTE_ACTIVE
        with pytest.raises(LinkDetached):
            connection.create_sender("orders")
        messaging_users.revoke(user=alice, by=SYSTEM)
        assert isinstance(patience.look(space.id, real_ports), Done)
        connection.timeout = 2  # it is gone, and closing it would wait for an answer
        with pytest.raises(ConnectionException):
            connection.create_receiver("calls")
    with (
        pytest.raises(ConnectionException, match="unauthorized-access"),
        amqp.connected(space, tmp_path, "alice", rows.PASSWORD),
    ):
        pass


def test_refused_connections_end_open_ones_and_keep_what_is_stored(
    space: AddressSpace, real_ports: Ports, tmp_path: Path
) -> None:
    wanted = Restrictions(connections_refused=True)
    with amqp.connected(space, tmp_path, "alice", rows.PASSWORD) as connection:
        amqp.send(connection, "orders", "before")
        connection.timeout = 2  # it will be gone, and closing it would wait for an answer
        restrictions.restrict(space=space, wanted=wanted, by=SYSTEM, reason="quota")
        assert isinstance(patience.look(space.id, real_ports), Done)
        with pytest.raises((ConnectionException, LinkDetached)):
            connection.create_sender("orders")
    with (
        pytest.raises(ConnectionException),
        amqp.connected(space, tmp_path, "alice", rows.PASSWORD),
    ):
        pass
    restrictions.restrict(space=space, wanted=Restrictions(), by=SYSTEM, reason="raised")
    assert isinstance(patience.look(space.id, real_ports), Done)
    with amqp.connected(space, tmp_path, "alice", rows.PASSWORD) as connection:
        assert amqp.receive(connection, "orders", 1) == ["before"]


def test_a_throttle_restarts_routers_with_fewer_connections_and_keeps_what_is_stored(
    space: AddressSpace, real_ports: Ports, tmp_path: Path
) -> None:
    with amqp.connected(space, tmp_path, "alice", rows.PASSWORD) as connection:
        amqp.send(connection, "orders", "before")
    # One percent of the 200 connections of the plan, and of the 150 of a user.
    wanted = Restrictions(throttle_percent=1)
    restrictions.restrict(space=space, wanted=wanted, by=SYSTEM, reason="quota")

    assert isinstance(patience.look(space.id, real_ports), Done)

    with amqp.connected(space, tmp_path, "alice", rows.PASSWORD) as connection:
        with (
            pytest.raises(ConnectionException),
            amqp.connected(space, tmp_path, "alice", rows.PASSWORD),
        ):
            pass
        assert amqp.receive(connection, "orders", 1) == ["before"]


@pytest.mark.drill
def test_known_users_log_in_while_the_database_is_away(
    space: AddressSpace, auth: AuthProcess, tmp_path: Path
) -> None:
    auth.stop()

    auth.start(WAYPOST_DATABASE_URL="postgresql://nobody:x@127.0.0.1:1/nothing")

    with amqp.connected(space, tmp_path, "alice", rows.PASSWORD) as connection:
        amqp.send(connection, "orders", "without the database")
        assert amqp.receive(connection, "orders", 1) == ["without the database"]
    auth.stop()
    (tmp_path / "auth" / "users.sealed").write_text("garbage")
    auth.launch(WAYPOST_DATABASE_URL="postgresql://nobody:x@127.0.0.1:1/nothing")
    eventually(auth.waits, "it has no users")
    with (
        pytest.raises(ConnectionException),
        amqp.connected(space, tmp_path, "alice", rows.PASSWORD),
    ):
        pass


@pytest.mark.drill
def test_a_killed_router_serves_again_without_us(
    space: AddressSpace, real_ports: Ports, tmp_path: Path
) -> None:
    with amqp.connected(space, tmp_path, "alice", rows.PASSWORD) as connection:
        amqp.send(connection, "orders", "kept")
    loaded = space_rows.load(space, now=real_ports.clock(), full=False)
    locator = Locator(real_ports.infra, real_ports.identities_dir)
    with real_ports.infra.open(loaded.namespace) as session:
        target = Targets(locator, session, SpaceKeys.as_read(loaded)).of("router-0")
    before = real_ports.routers.find_incarnation(target)

    kill_instance(real_ports, space, Kind.ROUTER)
    eventually(lambda: incarnation(real_ports, target) not in ("", before), "a new life")

    with amqp.connected(space, tmp_path, "alice", rows.PASSWORD) as connection:
        assert amqp.receive(connection, "orders", 1) == ["kept"]
        assert connection.create_receiver("calls").link.state & Endpoint.REMOTE_ACTIVE


def test_deleting_an_address_and_the_space(
    space: AddressSpace, real_ports: Ports, tmp_path: Path
) -> None:
    addresses.delete(address=Address.objects.get(address="calls"), by=SYSTEM)
    assert isinstance(patience.look(space.id, real_ports), Done)
    with amqp.connected(space, tmp_path, "alice", rows.PASSWORD) as connection:
        with pytest.raises(LinkDetached):
            connection.create_receiver("calls")
        assert connection.create_receiver("weather").link.state & Endpoint.REMOTE_ACTIVE

    namespace = space_rows.load(space, now=real_ports.clock(), full=False).namespace.name
    address_spaces.delete(space=space, by=SYSTEM)
    assert isinstance(patience.look(space.id, real_ports), Done)

    space.refresh_from_db()
    assert space.deleted_at is not None
    assert namespace not in real_ports.infra.list_namespaces()


def test_a_router_that_cannot_start_says_why(
    auth: AuthProcess, real_ports: Ports, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when a rendered file has a mistake: the space's condition shows the router's own words."""
    policy = config._policy
    monkeypatch.setattr(
        config, "_policy", lambda *sold: [*policy(*sold), ("vhost", {"hostname": "x", "color": 1})]
    )
    space = rows.make_space(rows.make_tenant(), kind="standard")

    def ready_message() -> str:
        loop.reconcile(space.id, real_ports, budget_seconds=0)
        space.refresh_from_db()
        ready = (condition for condition in space.conditions if condition["type"] == "Ready")
        return next((str(name["message"]) for name in ready), "")

    eventually(lambda: "Unknown attribute 'color'" in ready_message(), "its words")


def incarnation(ports: Ports, target: ManagementTarget) -> str:
    try:
        return ports.routers.find_incarnation(target)
    except Exception:  # noqa: BLE001  (away while it restarts)
        return ""


def kill_instance(ports: Ports, space: AddressSpace, kind: Kind) -> None:
    """As ``kill -9`` of the process behind an instance."""
    namespace = space_rows.load(space, now=ports.clock(), full=False).namespace
    status = next(e for e in listed(ports.infra, namespace) if e.kind is kind)
    os.kill(int(status.boot.rsplit("-", 1)[1]), signal.SIGKILL)
