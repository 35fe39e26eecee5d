"""A standard space of several real routers, from rows to clients, while it grows and shrinks."""

import itertools
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from pathlib import Path

import pytest
from proton import Delivery, Message, ProtonException
from proton.utils import BlockingConnection

from controlplane.core.audit import SYSTEM
from tenants.actions import space_plans
from tenants.models import AddressSpace
from tests.reconcile import patience, rows
from tests.verification import amqp, routing_rig
from tests.verification.auth_process import AuthProcess
from tests.waiting import eventually
from workers.infra.base import Kind
from workers.messaging import certificates
from workers.messaging.certificates import KeyPair
from workers.reconcile import work
from workers.reconcile.doors import Doors
from workers.reconcile.outcome import Done

pytestmark = [
    pytest.mark.router,
    pytest.mark.broker,
    pytest.mark.slow,
    pytest.mark.django_db(transaction=True),
]


@pytest.fixture
def control_ca_dir(tmp_path: Path) -> Path:
    return tmp_path / "control-ca"


@pytest.fixture
def control_authority(control_ca_dir: Path) -> KeyPair:
    return certificates.control_authority(control_ca_dir, routing_rig.now())


@pytest.fixture
def auth(auth_port: int, tmp_path: Path, control_ca_dir: Path) -> Iterator[AuthProcess]:
    process = AuthProcess(auth_port, tmp_path, control_ca_dir)
    process.start()
    yield process
    process.stop()


def make_space(doors: Doors, size: str) -> AddressSpace:
    made = rows.make_space(rows.make_tenant(), kind="standard", size=size)
    rows.make_address(made, "calls", "anycast")
    rows.make_address(made, "orders", "queue")
    rows.make_address(made, "news", "topic")
    rows.make_user(made, "alice", ("#", "send recv"))
    outcome = patience.look(made.id, doors)
    assert isinstance(outcome, Done), outcome
    made.refresh_from_db()
    return made


def change_plan(space: AddressSpace, doors: Doors, size: str) -> None:
    space_plans.change(space=space, space_plan=f"standard-{size}", by=SYSTEM)
    outcome = patience.look(space.id, doors)
    assert isinstance(outcome, Done), outcome
    space.refresh_from_db()


def is_joined(space: AddressSpace, doors: Doors) -> bool:
    patience.look(space.id, doors)
    space.refresh_from_db()
    found = next(each for each in space.conditions if each["type"] == "Routers")
    return bool(found["reason"] == "AsPlanned")


def test_each_router_has_an_endpoint_and_serves_every_type(
    auth: AuthProcess, real_doors: Doors, tmp_path: Path
) -> None:
    space = make_space(real_doors, "xlarge")

    names = sorted(space.endpoints.values_list("name", flat=True))
    assert names == ["amqps", "amqps-1", "amqps-2"]
    eventually(lambda: is_joined(space, real_doors), "the routers are joined", seconds=30)
    for sends, receives in (("amqps", "amqps-1"), ("amqps-2", "amqps")):
        with connected(space, tmp_path, sends) as out, connected(space, tmp_path, receives) as into:
            for address in ("calls", "orders", "news"):
                receiver = into.create_receiver(address, credit=1)
                routing_rig.deliver(out.create_sender(address), receiver, address)


def test_topics_go_on_while_the_first_router_stays_away(
    auth: AuthProcess, real_doors: Doors, tmp_path: Path
) -> None:
    space = make_space(real_doors, "large")
    namespace = work.load(space, now=real_doors.clock(), full=False).namespace
    first = next(
        each for each in real_doors.infra.list_instances(namespace) if each.name == "router-0"
    )
    os.kill(int(first.boot.rsplit("-", 1)[1]), signal.SIGSTOP)  # it hangs, and no one restarts it
    try:
        stopped = time.monotonic()
        with connected(space, tmp_path, "amqps-1", timeout=30) as connection:
            receiver = connection.create_receiver("news", credit=1)
            sender = connection.create_sender("news")
            sender.send(Message(body="it rains", durable=True))
            assert routing_rig.take(receiver, 1) == ["it rains"]
        print(f"a topic after {time.monotonic() - stopped:.1f} s")  # noqa: T201
    finally:
        os.kill(int(first.boot.rsplit("-", 1)[1]), signal.SIGCONT)


def test_a_space_grows_to_three_routers_and_back_under_traffic(
    auth: AuthProcess, real_doors: Doors, tmp_path: Path
) -> None:
    """A plan with another limit restarts routers one at a time: clients connect again."""
    space = make_space(real_doors, "medium")
    traffic = Traffic(space, tmp_path)
    traffic.start()
    change_plan(space, real_doors, "xlarge")
    assert space.endpoints.count() == 3
    grown = len(traffic.accepted)
    change_plan(space, real_doors, "medium")
    assert space.endpoints.count() == 1
    traffic.finish()

    assert 0 < grown < len(traffic.accepted)
    assert set(traffic.accepted) <= set(traffic.received)
    assert traffic.longest_pause < 10
    namespace = work.load(space, now=real_doors.clock(), full=False).namespace
    kinds = [each.kind for each in real_doors.infra.list_instances(namespace)]
    assert kinds.count(Kind.ROUTER) == 1


class Traffic:
    """A sender and a receiver of one queue, in threads, that connect again when they must.

    Every message has a number of its own, so what comes twice shows, and what is lost.
    """

    def __init__(self, space: AddressSpace, folder: Path) -> None:
        self.accepted: list[int] = []
        self.received: list[int] = []
        self.longest_pause = 0.0
        endpoint = space.endpoints.get(name="amqps")  # once: threads have no business in the rows
        self._at, self._authority = (endpoint.host, endpoint.port), endpoint.certificate_pem
        self._folder = folder
        self._numbers = itertools.count()
        self._last_accepted = time.monotonic()
        self._is_ending, self._has_ended = threading.Event(), threading.Event()
        self._threads = [
            threading.Thread(target=self._repeat, args=[job, until], daemon=True)
            for job, until in ((self._send, self._is_ending), (self._receive, self._has_ended))
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()
        eventually(lambda: self.received, "the first message", seconds=30)

    def finish(self) -> None:
        """Stop sending, and receiving once everything that was accepted has come."""
        self._is_ending.set()
        self._threads[0].join(60)
        eventually(lambda: set(self.accepted) <= set(self.received), "everything", seconds=60)
        self._has_ended.set()
        self._threads[1].join(60)

    def _repeat(
        self, job: Callable[[BlockingConnection, threading.Event], None], until: threading.Event
    ) -> None:
        while not until.is_set():
            with suppress(ProtonException, OSError), self._connected() as connection:
                job(connection, until)
            time.sleep(0.1)

    def _connected(self) -> AbstractContextManager[BlockingConnection]:
        return amqp.connected_to(
            self._at, self._authority, self._folder, "alice", rows.PASSWORD, timeout=5
        )

    def _send(self, connection: BlockingConnection, until: threading.Event) -> None:
        sender = connection.create_sender("orders")
        while not until.is_set():
            number = next(self._numbers)
            delivery = sender.send(Message(body=number, durable=True), timeout=10)
            if delivery.remote_state == Delivery.ACCEPTED:
                self.accepted.append(number)
                now = time.monotonic()
                self.longest_pause = max(self.longest_pause, now - self._last_accepted)
                self._last_accepted = now

    def _receive(self, connection: BlockingConnection, until: threading.Event) -> None:
        receiver = connection.create_receiver("orders", credit=100)
        while not until.is_set():
            routing_rig.settle_down(connection, seconds=0.05)
            bodies = routing_rig.take(receiver, len(receiver.fetcher.incoming))
            self.received += [int(str(each)) for each in bodies]


def connected(
    space: AddressSpace, folder: Path, name: str, timeout: float = 10
) -> AbstractContextManager[BlockingConnection]:
    return amqp.connected(space, folder, "alice", rows.PASSWORD, timeout, endpoint_name=name)
