"""A brokered space from rows to real clients on a real broker."""

import os
import signal
import socket
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone
from proton import ConnectionException, Delivery, Link, ProtonException, Terminus, symbol
from proton.reactor import DurableSubscription, ReceiverOption
from proton.utils import BlockingConnection, BlockingSender, LinkDetached, SendException

from controlplane.core.address_types import AddressSettings
from controlplane.core.audit import SYSTEM
from controlplane.core.instance_names import Kind
from controlplane.embedded.supervisor_client import SupervisorClient
from plans.quotas import enforcement
from tenants.actions import address_spaces, addresses, messaging_users, restrictions, unpaid_stages
from tenants.models import Address, AddressSpace, MessagingUser, UnpaidStage
from tests.support.messaging import amqp, routing_rig
from tests.support.messaging.recording_metering import RecordingMetering
from tests.support.reconcile import patience, rows
from tests.support.waiting import eventually
from workers.instances import Locator
from workers.messaging.brokers import driver
from workers.messaging.brokers.snapshot import MeteredAddress
from workers.messaging.management import Unreachable
from workers.messaging.observed import AddressCounters, InstanceSnapshot, ManagementTarget
from workers.reconcile import loop, space_rows
from workers.reconcile.outcome import Done, Wait
from workers.reconcile.ports import Ports

pytestmark = [pytest.mark.broker, pytest.mark.slow, pytest.mark.django_db]


@pytest.fixture
def space(real_ports: Ports) -> Iterator[AddressSpace]:
    """A space with queues, a topic and two users, Active on a real broker."""
    made = rows.make_space(rows.make_tenant())
    rows.make_address(made, "orders/new")
    rows.make_address(made, "private")
    rows.make_address(made, "news", "topic")
    rows.make_address(
        made, "retried", settings=AddressSettings(max_delivery_attempts=2, dead_letter="private")
    )
    rows.make_user(made, "alice", ("orders/#", "send recv"), ("news", "send recv"))
    rows.make_user(made, "bob", ("#", "send recv"))
    settle(made, real_ports)
    assert made.phase == "Active"
    yield made
    address_spaces.delete(space=made, by=SYSTEM)
    settle(made, real_ports)
    assert made.deleted_at is not None


def settle(space: AddressSpace, ports: Ports) -> None:
    outcome = patience.look(space.id, ports)
    assert isinstance(outcome, Done), outcome
    space.refresh_from_db()


def target_of(space: AddressSpace, ports: Ports) -> ManagementTarget:
    (found,) = Locator(ports.infra, ports.identities_dir).list_existing(space)
    return found.target


def snapshot(space: AddressSpace, ports: Ports) -> InstanceSnapshot:
    metered = [MeteredAddress(row.address, row.type) for row in space.addresses.all()]
    return driver.snapshot(target_of(space, ports), addresses=metered)


def counters(taken: InstanceSnapshot, address: str) -> AddressCounters:
    return next(counted for counted in taken.addresses if counted.address == address)


def settled(taken: InstanceSnapshot) -> tuple[int, int]:
    """Messages that receivers of the queue and of the topic settled."""
    topic = counters(taken, "news")
    return counters(taken, "orders/new").messages_out, sum(topic.queues_out.values())


def fill(sender: BlockingSender) -> tuple[int, str]:
    """Send until refused; return how many messages were accepted, and the refusal's condition."""
    for accepted in range(500):
        delivery = routing_rig.hand_over(sender, amqp.message("x" * 1000))
        if routing_rig.outcome(sender, delivery) != Delivery.ACCEPTED:
            return accepted, routing_rig.condition_of(delivery)
    pytest.fail("never full")


def is_closed(connection: BlockingConnection) -> bool:
    """Return whether the peer has closed the connection; looks at it without waiting long."""
    try:
        connection.wait(lambda: False, timeout=0.2)
    except ProtonException as error:
        return isinstance(error, ConnectionException) and "timed out" not in str(error)
    return False


def test_a_user_may_do_what_was_granted_and_no_more(
    space: AddressSpace, real_ports: Ports, tmp_path: Path
) -> None:
    with amqp.connected(space, tmp_path, "alice", rows.PASSWORD) as connection:
        amqp.send(connection, "orders/new", "one", "two")
        assert amqp.receive(connection, "orders/new", 2) == ["one", "two"]
        for forbidden in ("private", "activemq.management", "$waypost.probe.queue", "nowhere"):
            with pytest.raises(LinkDetached, match=r"unauthorized-access|not-found"):
                amqp.send(connection, forbidden, "no")
    for user, password in (("alice", "wrong password"), ("carol", rows.PASSWORD)):
        with (
            pytest.raises(ConnectionException, match="unauthorized-access"),
            amqp.connected(space, tmp_path, user, password),
        ):
            pass


class Shared(ReceiverOption):
    """Asks for a subscription that several consumers share, by its link name."""

    def __init__(self, durability: int) -> None:
        self._durability = durability

    def apply(self, link: Link) -> None:
        link.source.capabilities.put_object(symbol("shared"))
        link.source.durability = self._durability


REFUSED_SUBSCRIPTIONS: dict[str, tuple[ReceiverOption | None, str]] = {
    # A broker's word for a refused queue of the link's own lifetime; see docs/messaging.md.
    "plain": (None, "amqp:internal-error"),
    "durable": (DurableSubscription(), "amqp:unauthorized-access"),
    "shared": (Shared(Terminus.NONDURABLE), "amqp:unauthorized-access"),
    "shared-durable": (Shared(Terminus.DELIVERIES), "amqp:unauthorized-access"),
}


@pytest.mark.drill
def test_a_user_without_recv_gets_no_subscription_and_leaves_no_queue(
    space: AddressSpace, real_ports: Ports, tmp_path: Path
) -> None:
    rows.make_user(space, "writer", ("news", "send"))
    settle(space, real_ports)

    for sent, (name, (option, condition)) in enumerate(REFUSED_SUBSCRIPTIONS.items(), start=1):
        with amqp.connected(space, tmp_path, "writer", rows.PASSWORD) as connection:
            with pytest.raises(LinkDetached, match="not authorized") as refusal:
                connection.create_receiver("news", name="mine", options=option)
            amqp.send(connection, "news", "to nobody")
            taken = counters(snapshot(space, real_ports), "news")

        assert (refusal.value.condition, taken.messages_in) == (condition, sent), name
        assert taken.queues_out == {}, name


@pytest.mark.drill
def test_the_broker_warns_of_nothing_while_it_is_managed_and_probed(
    space: AddressSpace, real_ports: Ports, state_dir: Path
) -> None:
    snapshot(space, real_ports)

    (log,) = state_dir.glob("spaces/**/broker-0/log/output.log")
    lines = log.read_text().splitlines()
    assert [line for line in lines if "AMQ221007" in line]  # it is live, and its log is read here
    assert [line for line in lines if "WARN" in line] == []


@pytest.mark.drill
def test_an_address_that_nobody_made_is_not_found(space: AddressSpace, tmp_path: Path) -> None:
    with amqp.connected(space, tmp_path, "bob", rows.PASSWORD) as connection:
        for attach in (connection.create_sender, connection.create_receiver):
            with pytest.raises(LinkDetached) as refusal:
                attach("nowhere")
            assert refusal.value.condition == "amqp:not-found"


def test_revoking_closes_open_connections_and_refuses_new_ones(
    space: AddressSpace, real_ports: Ports, tmp_path: Path
) -> None:
    with (
        amqp.connected(space, tmp_path, "bob", rows.PASSWORD) as bob,
        amqp.connected(space, tmp_path, "alice", rows.PASSWORD) as alice,
    ):
        bob.create_receiver("private")
        alice.create_receiver("orders/new")
        messaging_users.revoke(user=MessagingUser.objects.get(space=space, name="bob"), by=SYSTEM)

        settle(space, real_ports)

        eventually(lambda: is_closed(bob))
        assert not is_closed(alice)
    with (
        pytest.raises(ConnectionException, match="unauthorized-access"),
        amqp.connected(space, tmp_path, "bob", rows.PASSWORD),
    ):
        pass


@pytest.mark.drill
def test_a_lost_permission_closes_the_link_that_used_it(
    space: AddressSpace, real_ports: Ports, tmp_path: Path
) -> None:
    with amqp.connected(space, tmp_path, "bob", rows.PASSWORD) as bob:
        bob.create_receiver("private")
        messaging_users.update(
            user=MessagingUser.objects.get(space=space, name="bob"),
            permissions=[{"addresses": ["orders/*"], "operations": ["recv"]}],
            by=SYSTEM,
        )

        settle(space, real_ports)

        eventually(lambda: is_closed(bob))
    with amqp.connected(space, tmp_path, "bob", rows.PASSWORD) as bob:
        bob.create_receiver("orders/new")
        with pytest.raises(LinkDetached, match="unauthorized-access"):
            bob.create_receiver("private")


@pytest.mark.drill
def test_withdrawn_send_refuses_messages_and_lets_receive(
    space: AddressSpace, real_ports: Ports, tmp_path: Path
) -> None:
    with amqp.connected(space, tmp_path, "alice", rows.PASSWORD) as connection:
        amqp.send(connection, "orders/new", "before")
        sender = connection.create_sender("orders/new", name="open-before")
        restrictions.withdraw_send(space=space, by=SYSTEM, reason="quota")
        settle(space, real_ports)

        with pytest.raises((SendException, LinkDetached)):
            sender.send(amqp.message("after"))
        assert amqp.receive(connection, "orders/new", 1) == ["before"]

        nothing = restrictions.Restrictions()
        restrictions.restrict(space=space, wanted=nothing, by=SYSTEM, reason="raised")
        settle(space, real_ports)
    with amqp.connected(space, tmp_path, "alice", rows.PASSWORD) as connection:
        amqp.send(connection, "orders/new", "again")


def refuse(space: AddressSpace) -> None:
    restrictions.refuse_connections(space=space, by=SYSTEM, reason="quota")


def suspend_unpaid(space: AddressSpace) -> None:
    unpaid_stages.move(tenant=space.tenant, stage=UnpaidStage.SUSPENDED)


@pytest.mark.parametrize("begin", [refuse, suspend_unpaid])
def test_refused_connections_end_open_ones_and_keep_what_is_stored(
    space: AddressSpace, real_ports: Ports, tmp_path: Path, begin: Callable[[AddressSpace], None]
) -> None:
    with amqp.connected(space, tmp_path, "alice", rows.PASSWORD) as connection:
        amqp.send(connection, "orders/new", "before")
        begin(space)

        settle(space, real_ports)

        eventually(lambda: is_closed(connection))
    with (
        pytest.raises(ConnectionException),
        amqp.connected(space, tmp_path, "alice", rows.PASSWORD),
    ):
        pass
    # Nothing is probed as a tenant's user, so the space stays Active.
    assert space.phase == "Active"
    unpaid_stages.move(tenant=space.tenant, stage=UnpaidStage.NONE)
    enforcement.evaluate(tenant_id=space.tenant_id, now=timezone.now())
    settle(space, real_ports)
    with amqp.connected(space, tmp_path, "alice", rows.PASSWORD) as connection:
        assert amqp.receive(connection, "orders/new", 1) == ["before"]


@pytest.mark.drill
def test_a_new_address_is_usable_after_one_look(
    space: AddressSpace, real_ports: Ports, tmp_path: Path
) -> None:
    rows.make_address(space, "orders/late")

    outcome = loop.reconcile(space.id, real_ports)

    assert isinstance(outcome, Done)  # how soon: `make bench`
    with amqp.connected(space, tmp_path, "alice", rows.PASSWORD) as connection:
        amqp.send(connection, "orders/late", "x")


def test_a_deleted_address_refuses_and_loses_what_it_stored(
    space: AddressSpace, real_ports: Ports, tmp_path: Path
) -> None:
    with amqp.connected(space, tmp_path, "alice", rows.PASSWORD) as connection:
        amqp.send(connection, "orders/new", "stored")
        assert driver.count_stored(target_of(space, real_ports)) == 1
        addresses.delete(address=Address.objects.get(space=space, address="orders/new"), by=SYSTEM)

        settle(space, real_ports)

    assert isinstance(real_ports.metering, RecordingMetering)
    assert real_ports.metering.asked[-1] == (space.id, ["orders/new"])
    with (
        amqp.connected(space, tmp_path, "alice", rows.PASSWORD) as connection,
        pytest.raises(LinkDetached),
    ):
        connection.create_sender("orders/new")
    assert "orders/new" not in {
        address.address for address in snapshot(space, real_ports).addresses
    }


def test_an_address_that_is_recreated_is_counted_under_another_life(
    space: AddressSpace, real_ports: Ports
) -> None:
    before = snapshot(space, real_ports)
    for name, kind in (("orders/new", "queue"), ("news", "topic")):
        addresses.delete(address=Address.objects.get(space=space, address=name), by=SYSTEM)
        settle(space, real_ports)
        rows.make_address(space, name, kind)
    settle(space, real_ports)

    after = snapshot(space, real_ports)

    for name in ("orders/new", "news"):
        assert "" != counters(before, name).incarnation != counters(after, name).incarnation != ""
    assert counters(after, "private").incarnation == counters(before, "private").incarnation


def test_a_full_address_refuses_with_the_protocol_s_error(
    space: AddressSpace, real_ports: Ports, tmp_path: Path
) -> None:
    rows.make_address(space, "orders/small", settings=AddressSettings(max_bytes=50_000))
    settle(space, real_ports)

    with amqp.connected(space, tmp_path, "alice", rows.PASSWORD) as connection:
        sender = connection.create_sender("orders/small")
        accepted, condition = fill(sender)

    taken = counters(snapshot(space, real_ports), "orders/small")
    assert condition == "amqp:resource-limit-exceeded"
    assert 10 < accepted < 200
    assert taken.messages_in == accepted


@pytest.mark.drill
def test_snapshot_counts_what_clients_did(
    space: AddressSpace, real_ports: Ports, tmp_path: Path
) -> None:
    before = snapshot(space, real_ports)

    with amqp.connected(space, tmp_path, "alice", rows.PASSWORD) as one:
        amqp.send(one, "orders/new", *("m" * 100 for _ in range(30)))
        amqp.receive(one, "orders/new", 20)
        first, second = (one.create_receiver("news", name=name) for name in ("r1", "r2"))
        amqp.send(one, "news", "a", "b", "c")
        for receiver in (first, second):
            for _ in range(3):
                receiver.receive(timeout=60)
                receiver.accept()
        first.close()
        # A broker counts a settled message once it is on its disk; a closed subscription is gone.
        eventually(lambda: settled(snapshot(space, real_ports)) == (20, 3), "all is counted")
        with pytest.raises(ConnectionException), amqp.connected(space, tmp_path, "bob", "bad pass"):
            pass
        with amqp.connected(space, tmp_path, "bob", rows.PASSWORD) as two:
            two.create_sender("private")
            taken = snapshot(space, real_ports)
    after = snapshot(space, real_ports)

    assert (before.connections_opened, before.connections) == (0, [])
    queue, topic = counters(taken, "orders/new"), counters(taken, "news")
    assert (queue.messages_in, queue.messages_out) == (30, 20)
    assert queue.stored_bytes >= 10 * 100
    assert topic.messages_in == 3
    assert sum(topic.queues_out.values()) == 3  # the one subscription that is still there
    assert {connection.user for connection in taken.connections} == {"alice", "bob"}
    assert taken.connections_opened == 2
    assert (after.connections_opened, after.connections) == (2, [])
    assert taken.boot_id == after.boot_id


@pytest.mark.drill
def test_killed_broker_keeps_acknowledged_messages_and_counts_none_twice(
    space: AddressSpace, real_ports: Ports, supervisor: SupervisorClient, tmp_path: Path
) -> None:
    with amqp.connected(space, tmp_path, "alice", rows.PASSWORD) as connection:
        amqp.send(connection, "orders/new", *(str(number) for number in range(50)))
    before = snapshot(space, real_ports)
    (program,) = [
        program for program in supervisor.list_programs() if program.name.startswith("wp-")
    ]

    os.kill(program.pid, signal.SIGKILL)
    space.last_full_pass_at = None
    AddressSpace.objects.filter(pk=space.pk).update(last_full_pass_at=None)
    settle(space, real_ports)
    first_look = snapshot(space, real_ports)
    with amqp.connected(space, tmp_path, "alice", rows.PASSWORD) as connection:
        amqp.send(connection, "orders/new", "50")
        bodies = amqp.receive(connection, "orders/new", 51)
    taken = after_taking(space, real_ports, "orders/new", 51)

    assert bodies == [str(number) for number in range(51)]
    assert counters(before, "orders/new").messages_in == 50
    assert taken.boot_id != before.boot_id
    assert counters(first_look, "orders/new").messages_in == 0
    assert counters(taken, "orders/new").messages_in == 1


def test_rejected_messages_go_to_the_dead_letter_address(
    space: AddressSpace, real_ports: Ports, tmp_path: Path
) -> None:
    with amqp.connected(space, tmp_path, "bob", rows.PASSWORD) as connection:
        amqp.send(connection, "retried", "poison")
        receiver = connection.create_receiver("retried", credit=1)
        receiver.receive(timeout=60)
        receiver.reject()
        receiver.close()

        assert amqp.receive(connection, "private", 1) == ["poison"]


def test_certificates_are_renewed_without_a_restart(real_ports: Ports, tmp_path: Path) -> None:
    space = rows.make_space(rows.make_tenant())
    rows.make_user(space, "alice", ("#", "recv"))
    long_ago = replace(real_ports, clock=lambda: timezone.now() - timedelta(days=25))
    loop.reconcile(space.id, long_ago, budget_seconds=60)
    incarnation = driver.find_incarnation(target_of(space, real_ports))
    before = space.secrets.get(name="server/broker-0").public

    settle(space, real_ports)

    assert space.secrets.get(name="server/broker-0").public != before
    # Each listener closes for a moment when it takes its new key, and again for the certificate.
    eventually(lambda: answers(target_of(space, real_ports), incarnation))
    eventually(lambda: lets_in(space, tmp_path))


def answers(target: ManagementTarget, incarnation: str) -> bool:
    """Return whether the broker answers; another one than that of this life fails the test."""
    try:
        assert driver.find_incarnation(target) == incarnation
    except Unreachable:
        return False
    return True


def lets_in(space: AddressSpace, folder: Path) -> bool:
    try:
        with amqp.connected(space, folder, "alice", rows.PASSWORD):
            return True
    except (ConnectionException, ConnectionError):
        return False


def after_taking(space: AddressSpace, ports: Ports, address: str, count: int) -> InstanceSnapshot:
    """Return a snapshot in which the broker has counted that many messages as taken."""
    what = f"{address} gave {count} messages"
    eventually(lambda: counters(snapshot(space, ports), address).messages_out == count, what)
    return snapshot(space, ports)


@pytest.mark.drill
def test_a_subscription_keeps_messages_while_nobody_listens(
    space: AddressSpace, real_ports: Ports, tmp_path: Path
) -> None:
    subscription = rows.make_address(
        space, "news-reader", "subscription", AddressSettings(topic="news")
    )
    settle(space, real_ports)

    with amqp.connected(space, tmp_path, "alice", rows.PASSWORD) as connection:
        amqp.send(connection, "news", "while away")
        assert amqp.receive(connection, "news::news-reader", 1) == ["while away"]
    taken = after_taking(space, real_ports, "news-reader", 1)
    assert counters(taken, "news-reader").messages_in == 0

    addresses.delete(address=subscription, by=SYSTEM)
    settle(space, real_ports)
    assert "news-reader" not in {
        address.address for address in snapshot(space, real_ports).addresses
    }


def test_a_taken_port_is_told_and_waited_for(real_ports: Ports) -> None:
    space = rows.make_space(rows.make_tenant())
    namespace = space_rows.load(space, now=timezone.now(), full=True).namespace
    with real_ports.infra.open(namespace) as session:
        layout = session.layout_of(Kind.BROKER, "broker-0")

    with socket.socket() as stranger:
        stranger.bind(("127.0.0.1", layout.ports["amqps"]))
        stranger.listen()
        outcome = loop.reconcile(space.id, real_ports, budget_seconds=0)

    assert isinstance(outcome, Wait)
    port = layout.ports["amqps"]
    assert outcome.text.startswith(f"PortTaken: Port {port} of broker-0 is taken by another")
    settle(space, real_ports)
    assert space.phase == "Active"
