"""A standard space of several real routers, from rows to clients, while it grows and shrinks."""

import os
import signal
import time
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from proton import Message
from proton.utils import BlockingConnection

from controlplane.core.audit import SYSTEM
from controlplane.core.instance_names import Kind
from tenants.actions import space_plans
from tenants.models import AddressSpace
from tests.support.messaging import amqp, routing_rig
from tests.support.messaging.auth_process import AuthProcess
from tests.support.messaging.lasting_traffic import Traffic
from tests.support.reconcile import patience, rows
from tests.support.sessions import listed
from tests.support.waiting import eventually
from workers.reconcile import space_rows
from workers.reconcile.outcome import Done
from workers.reconcile.ports import Ports

pytestmark = [
    pytest.mark.router,
    pytest.mark.broker,
    pytest.mark.slow,
    pytest.mark.django_db(transaction=True),
]


def make_space(ports: Ports, size: str) -> AddressSpace:
    made = rows.make_space(rows.make_tenant(), kind="standard", size=size)
    rows.make_address(made, "calls", "anycast")
    rows.make_address(made, "orders", "queue")
    rows.make_address(made, "news", "topic")
    rows.make_user(made, "alice", ("#", "send recv"))
    outcome = patience.look(made.id, ports)
    assert isinstance(outcome, Done), outcome
    made.refresh_from_db()
    return made


def change_plan(space: AddressSpace, ports: Ports, size: str) -> None:
    space_plans.change(space=space, space_plan=f"standard-{size}", by=SYSTEM)
    outcome = patience.look(space.id, ports)
    assert isinstance(outcome, Done), outcome
    space.refresh_from_db()


def is_joined(space: AddressSpace, ports: Ports) -> bool:
    patience.look(space.id, ports)
    space.refresh_from_db()
    found = next(condition for condition in space.conditions if condition["type"] == "Routers")
    return bool(found["reason"] == "AsPlanned")


def test_each_router_has_an_endpoint_and_serves_every_type(
    auth: AuthProcess, real_ports: Ports, tmp_path: Path
) -> None:
    space = make_space(real_ports, "xlarge")

    names = sorted(space.endpoints.values_list("name", flat=True))
    assert names == ["amqps", "amqps-1", "amqps-2"]
    eventually(lambda: is_joined(space, real_ports), "the routers are joined")
    for sends, receives in (("amqps", "amqps-1"), ("amqps-2", "amqps")):
        with connected(space, tmp_path, sends) as out, connected(space, tmp_path, receives) as into:
            for address in ("calls", "orders", "news"):
                receiver = into.create_receiver(address, credit=1)
                sender = out.create_sender(address)
                routing_rig.deliver(sender, receiver, address, stored=address == "orders")


def test_topics_go_on_while_the_first_router_stays_away(
    auth: AuthProcess, real_ports: Ports, tmp_path: Path
) -> None:
    space = make_space(real_ports, "large")
    namespace = space_rows.load(space, now=real_ports.clock(), full=False).namespace
    first = next(
        instance for instance in listed(real_ports.infra, namespace) if instance.name == "router-0"
    )
    os.kill(int(first.boot.rsplit("-", 1)[1]), signal.SIGSTOP)  # it hangs, and no one restarts it
    try:
        stopped = time.monotonic()
        with connected(space, tmp_path, "amqps-1", timeout=60) as connection:
            receiver = connection.create_receiver("news", credit=1)
            sender = connection.create_sender("news")
            sender.send(Message(body="it rains", durable=True))
            assert routing_rig.take(receiver, 1) == ["it rains"]
        print(f"a topic after {time.monotonic() - stopped:.1f} s")  # noqa: T201
    finally:
        os.kill(int(first.boot.rsplit("-", 1)[1]), signal.SIGCONT)


def test_a_space_grows_to_three_routers_and_back_under_traffic(
    auth: AuthProcess, real_ports: Ports, tmp_path: Path
) -> None:
    """A plan with another limit restarts routers one at a time: clients connect again."""
    space = make_space(real_ports, "medium")
    traffic = Traffic(space, tmp_path)
    traffic.start()
    change_plan(space, real_ports, "xlarge")
    assert space.endpoints.count() == 3
    grown = len(traffic.accepted)
    change_plan(space, real_ports, "medium")
    assert space.endpoints.count() == 1
    traffic.finish()

    assert 0 < grown < len(traffic.accepted)
    assert set(traffic.accepted) <= set(traffic.received)
    assert traffic.longest_pause < 10
    namespace = space_rows.load(space, now=real_ports.clock(), full=False).namespace
    kinds = [instance.kind for instance in listed(real_ports.infra, namespace)]
    assert kinds.count(Kind.ROUTER) == 1


def connected(
    space: AddressSpace, folder: Path, name: str, timeout: float = 10
) -> AbstractContextManager[BlockingConnection]:
    return amqp.connected(space, folder, "alice", rows.PASSWORD, timeout, endpoint_name=name)
