"""What the reconcile loop expects of ``infra`` and of the broker driver, on fakes and for real.

The same tests run against the fakes of tests/support/reconcile, against real processes of the local
adapter and against those behind the pods of the Kubernetes adapter: a fake cannot promise what the
real thing does not keep, and no adapter what the other one does not.
"""

import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from django.utils import timezone
from kubernetes.client import ApiClient
from proton import Message
from pytest_django import Settings

from controlplane.core.address_types import AddressSettings
from controlplane.core.instance_names import Kind
from controlplane.embedded import artifacts, ports
from tests.suites.messaging.conftest import (
    local_infra,  # noqa: F401
    state_dir,  # noqa: F401
    supervisor,  # noqa: F401
)
from tests.support.kubernetes import look, process_node
from tests.support.reconcile.fakes import FakeBrokers, FakeInfra
from tests.support.sessions import listed, once
from tests.support.waiting import eventually
from workers.infra.base import Infra, InstanceSpec, InstanceStatus, Namespace, ResourceBudget
from workers.infra.kubernetes import resources
from workers.infra.kubernetes.adapter import KubernetesInfra
from workers.infra.kubernetes.api import Api
from workers.infra.kubernetes.cluster import Cluster
from workers.messaging import certificates, identities, management
from workers.messaging.brokers import desired, driver, render
from workers.messaging.brokers.desired import (
    BrokerAddressKind,
    DesiredAddress,
    DesiredBroker,
    DesiredUser,
    EngineLayout,
    Permission,
)
from workers.messaging.management import Refused, Unreachable
from workers.messaging.observed import ManagementTarget
from workers.messaging.probe import ProbeFailed
from workers.reconcile.ports import Brokers

pytestmark = [
    pytest.mark.broker,
    pytest.mark.slow,
    pytest.mark.allow_hosts(process_node.ADDRESSES),
]
# Only the drills end a broker in a cluster and wait until it is back: that takes some 10 s.
RESTARTED = pytest.mark.parametrize(
    "bench",
    ["fake", "local", pytest.param("kubernetes", marks=pytest.mark.drill)],
    indirect=True,
)
BUDGET = ResourceBudget(brokers=1, broker_memory_mb=128, routers=0)
ADDRESSES = (
    DesiredAddress("orders/new", BrokerAddressKind.QUEUE, AddressSettings(max_bytes=1_000_000)),
    DesiredAddress("news", BrokerAddressKind.TOPIC, subscriptions=("news-reader",)),
)


@dataclass
class Bench:
    """One way to run a broker, and what the broker should hold.

    ``begin_pass`` gives the adapter as each pass of a worker has it. What it is asked for is there
    within ``patience`` seconds: at once but where others do it, as a cluster's controllers.
    ``list_leftovers`` gives what still runs of instances that are not there any more.
    """

    namespace: Namespace
    begin_pass: Callable[[], Infra]
    brokers: Brokers
    folder: Path
    patience: float = 0
    list_leftovers: Callable[[Namespace], Sequence[object]] = lambda _namespace: ()

    def __post_init__(self) -> None:
        now = timezone.now()
        self.authority = certificates.create_authority("space spc_1", now)
        self.control = certificates.issue_client(self.authority, desired.CONTROL_NAME, now)
        self.wanted = DesiredBroker(
            public=True,
            addresses=ADDRESSES,
            users=[
                DesiredUser("alice", {}, [Permission(["orders/#"], ["send", "recv"])], since=now)
            ],
            send_withdrawn=False,
            server=certificates.issue_server(self.authority, [self.host], now),
            authority_pem=self.authority.certificate_pem,
        )

    @property
    def infra(self) -> Infra:
        return self.begin_pass()

    @property
    def host(self) -> str:
        with self.infra.open(self.namespace) as session:
            return session.layout_of(Kind.BROKER, "broker-0").host

    @property
    def target(self) -> ManagementTarget:
        with self.infra.open(self.namespace) as session:
            layout = session.layout_of(Kind.BROKER, "broker-0")
        return identities.target(
            layout.host,
            layout.ports["management"],
            authority_pem=self.authority.certificate_pem,
            client=self.control,
            folder=self.folder,
        )

    def spec(self, public_port: int | None = None) -> InstanceSpec:
        with self.infra.open(self.namespace) as session:
            layout = session.layout_of(Kind.BROKER, "broker-0")
        place = EngineLayout(
            layout.config_dir,
            layout.data_dir,
            layout.bind_host,
            public_port or layout.ports["amqps"],
            layout.ports["management"],
        )
        return InstanceSpec(
            self.namespace,
            Kind.BROKER,
            "broker-0",
            render.files(self.wanted, place),
            render.LIVE_FILES,
            render.SECRET_FILES,
        )

    def run(self) -> str:
        """Start the broker (or give it its files) and return its life once it answers."""
        infra = self.infra
        with infra.open(self.namespace) as session:
            session.ensure_namespace(BUDGET)
            session.ensure_instance(self.spec())
        deadline = time.monotonic() + 120 + self.patience
        while True:
            try:
                return self.brokers.find_incarnation(self.target)
            except Unreachable:
                with self.infra.open(self.namespace) as session:
                    assert time.monotonic() < deadline, session.list_instances()
                time.sleep(0.1)

    def observe(self) -> InstanceStatus:
        """Return how the broker is once it runs as it was last told to."""
        self.wait(
            lambda: [instance.running for instance in listed(self.infra, self.namespace)] == [True]
        )
        (status,) = listed(self.infra, self.namespace)
        return status

    def wait(self, holds: Callable[[], object]) -> None:
        eventually(holds, seconds=self.patience)

    def wait_until_gone(self) -> None:
        """Wait until no instance is there and nothing of one runs: a pod ends after its set."""
        self.wait(lambda: listed(self.infra, self.namespace) == [])
        self.wait(lambda: not self.list_leftovers(self.namespace))

    def end(self) -> None:
        """Remove the namespace; over once nothing is left."""
        self.wait(
            lambda: once(self.infra, self.namespace, lambda session: session.delete_namespace())
        )
        assert self.namespace.name not in self.infra.list_namespaces()

    def want(self, *addresses: DesiredAddress) -> None:
        """Change what the broker should hold; it is told at the next ``run``."""
        self.wanted = replace(self.wanted, addresses=addresses)

    def settle(self) -> None:
        """Give the broker its files and converge until nothing is pending."""
        self.run()
        eventually(self._has_converged)

    def _has_converged(self) -> bool:
        try:
            return not self.brokers.converge(self.target, self.wanted).pending
        except Refused:  # it loaded the file by itself just now: what was missing is there
            return False

    def move_listener_to(self, port: int) -> None:
        """Have the listener of clients moved to a port that is taken, so that it stays closed."""
        if isinstance(self.brokers, FakeBrokers):
            self.brokers.closed.add(port)
            self.brokers.taken.add(port)
            return
        with self.infra.open(self.namespace) as session:
            old = session.layout_of(Kind.BROKER, "broker-0").ports["amqps"]
        spec, moved = self.spec(), self.spec(public_port=port).files["broker.xml"]
        with self.infra.open(self.namespace) as session:
            session.ensure_instance(replace(spec, files={**spec.files, "broker.xml": moved}))
        deadline = time.monotonic() + 120
        while ports.is_open("127.0.0.1", old):
            assert time.monotonic() < deadline
            with suppress(Refused):  # it says that it cannot bind, where we ask before it looks
                self.brokers.converge(self.target, self.wanted)

    def tell_free(self, port: int) -> None:
        """The stranger has left the port; who runs real processes needs no telling."""
        if isinstance(self.brokers, FakeBrokers):
            self.brokers.taken.discard(port)

    def listens_at(self, port: int, host: str = "127.0.0.1") -> bool:
        if isinstance(self.brokers, FakeBrokers):
            return port not in self.brokers.closed
        return ports.is_open(host, port)

    def store(self, body: str) -> None:
        """Have a message stored at the broker."""
        if isinstance(self.brokers, FakeBrokers):
            (broker,) = self.brokers.brokers.values()
            broker.stored["orders/new"] = 1
            return
        connection = management.open_connection(self.target, purpose="test", timeout_seconds=10)
        connection.create_sender("orders/new").send(Message(body=body, durable=True))
        management.close_quietly(connection)


@pytest.fixture(params=["fake", "local", "kubernetes"])
def bench(request: pytest.FixtureRequest) -> Bench:
    found: Bench = request.getfixturevalue(f"{request.param}_bench")
    return found


@pytest.fixture
def fake_bench(namespace: Namespace, tmp_path: Path) -> Bench:
    infra = FakeInfra()
    return Bench(namespace, lambda: infra, FakeBrokers(infra), tmp_path)


@pytest.fixture
def local_bench(
    namespace: Namespace, request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[Bench]:
    local: Infra = request.getfixturevalue("local_infra")
    yield Bench(namespace, lambda: local, driver, tmp_path)
    with local.open(namespace) as session:
        session.delete_namespace()


@pytest.fixture
def kubernetes_bench(
    namespace: Namespace,
    admin: ApiClient,
    wanted_cluster: Cluster,
    tmp_path: Path,
    settings: Settings,
) -> Iterator[Bench]:
    settings.ARTEMIS_HOME = str(artifacts.artemis_home())
    # One of its own, for other tests leave spaces in the cluster.
    cluster = replace(wanted_cluster, installation=f"waypost.{namespace.name}")
    with process_node.running(admin, tmp_path / "pods"):
        api = Api(admin)
        bench = Bench(
            namespace,
            lambda: KubernetesInfra(api, cluster),
            driver,
            tmp_path,
            patience=90,
            list_leftovers=lambda namespace: look.listed(api, resources.POD, namespace.name, {}),
        )
        yield bench
        with bench.infra.open(namespace) as session:
            session.delete_namespace()


def test_an_instance_of_another_namespace_is_refused(bench: Bench) -> None:
    spec = replace(bench.spec(), namespace=replace(bench.namespace, name="wp-another"))

    with bench.infra.open(bench.namespace) as session:
        with pytest.raises(ValueError, match="broker-0 is of wp-another, not of wp-"):
            session.ensure_instance(spec)


def test_place_answers_the_same_every_time(bench: Bench) -> None:
    with bench.infra.open(bench.namespace) as session:
        first = session.layout_of(Kind.BROKER, "broker-0")

    with bench.infra.open(bench.namespace) as session:
        assert session.layout_of(Kind.BROKER, "broker-0") == first
    assert len(set(first.ports.values())) == len(first.ports)


def test_an_absent_broker_is_unreachable_not_empty(bench: Bench) -> None:
    with bench.infra.open(bench.namespace) as session:
        session.ensure_namespace(BUDGET)

    with pytest.raises(Unreachable):
        bench.brokers.find_incarnation(bench.target)
    with pytest.raises(Unreachable):
        bench.brokers.list_unknown(bench.target, bench.wanted)
    with pytest.raises(Unreachable):
        bench.brokers.count_stored(bench.target)


def test_a_broker_lives_through_the_whole_contract(bench: Bench) -> None:
    """One life in one test, because starting a real broker takes seconds."""
    life = bench.run()
    bench.settle()
    assert bench.brokers.converge(bench.target, bench.wanted).created == 0
    status = bench.observe()
    assert (status.name, status.kind, status.trouble) == ("broker-0", Kind.BROKER, "")

    # again, and it is the same life
    bench.run()
    assert bench.observe().boot == status.boot

    # live files change without a new life
    bench.want(*ADDRESSES, DesiredAddress("x", BrokerAddressKind.QUEUE))
    bench.settle()
    assert bench.run() == life
    assert bench.observe().boot == status.boot

    # what nobody desires is an orphan, and can be removed twice
    bench.want(*ADDRESSES)
    bench.settle()
    assert list(bench.brokers.list_unknown(bench.target, bench.wanted).empty) == ["x"]

    def is_removed() -> bool:
        bench.brokers.remove(bench.target, ["x", "never-there"])
        bench.brokers.remove(bench.target, ["x"])
        return list(bench.brokers.list_unknown(bench.target, bench.wanted).empty) == []

    bench.wait(is_removed)  # one whose files come late may load the former ones once more

    # twins answer probes, other addresses do not
    for kind in BrokerAddressKind:
        assert bench.brokers.probe(bench.target, desired.probe_address(kind)) < 5
    with pytest.raises(ProbeFailed):
        bench.brokers.probe(bench.target, "not-there")

    # nothing is stored, whatever probes have sent
    assert bench.brokers.count_stored(bench.target) == 0

    # nobody is connected, so nobody is cut off
    assert bench.brokers.disconnect_clients(bench.target, bench.wanted) == 0

    with bench.infra.open(bench.namespace) as session:
        session.delete_instance("broker-0")
        session.delete_instance("broker-0")
    bench.wait_until_gone()
    assert bench.infra.list_namespaces() == [bench.namespace.name]
    bench.end()
    with bench.infra.open(bench.namespace) as session:
        assert session.delete_namespace()


@RESTARTED
def test_what_is_stored_goes_with_the_volume_and_with_nothing_else(bench: Bench) -> None:
    bench.run()
    bench.settle()
    bench.store("one")

    # kept, so the next instance of that name has it
    for _ in range(2):
        with bench.infra.open(bench.namespace) as session:
            session.delete_instance("broker-0", keep_volume=True)
    bench.wait_until_gone()
    with pytest.raises(Unreachable):
        bench.brokers.count_stored(bench.target)
    bench.run()
    assert bench.brokers.count_stored(bench.target) == 1

    with bench.infra.open(bench.namespace) as session:
        session.delete_instance("broker-0")
    bench.wait_until_gone()
    bench.run()
    assert bench.brokers.count_stored(bench.target) == 0


def test_an_endpoint_leads_to_its_instance_and_ends_without_it(bench: Bench) -> None:
    with bench.infra.open(bench.namespace) as session:
        session.ensure_namespace(BUDGET)
        endpoint = session.ensure_endpoint("broker-0")
        assert session.ensure_endpoint("broker-0") == endpoint
        assert session.ensure_certificate(endpoint) is None
    bench.run()
    status = bench.observe()

    assert bench.listens_at(endpoint.port, endpoint.host)
    assert not endpoint.trouble
    for _ in range(2):
        with bench.infra.open(bench.namespace) as session:
            session.delete_endpoint()
    assert bench.observe().boot == status.boot


@pytest.mark.parametrize("bench", ["fake", "local"], indirect=True)
def test_a_listener_that_found_its_port_taken_is_opened_later(bench: Bench) -> None:
    """Not of pods: each has an address of its own, so nobody else can listen at its ports."""
    bench.run()
    bench.settle()
    with socket.socket() as stranger:
        port = ports.reserve_port()
        stranger.bind(("127.0.0.1", port))  # and answers nobody
        bench.move_listener_to(port)
        with pytest.raises(ProbeFailed, match="does not listen for clients"):
            bench.brokers.probe_listener(bench.target, port)
    assert bench.brokers.converge(bench.target, bench.wanted).pending == {}  # and opens nothing

    bench.tell_free(port)

    bench.brokers.probe_listener(bench.target, port)

    assert bench.listens_at(port)
    bench.brokers.probe_listener(bench.target, port)


@RESTARTED
def test_a_cold_file_restarts_and_a_live_one_does_not(bench: Bench) -> None:
    bench.run()
    spec = bench.spec()
    before, logging = bench.observe().boot, spec.files["log4j2.properties"]

    with bench.infra.open(bench.namespace) as session:
        session.ensure_instance(
            replace(spec, files={**spec.files, "users.properties": "# changed\n"})
        )
    after_live = bench.observe().boot
    with bench.infra.open(bench.namespace) as session:
        session.ensure_instance(
            replace(spec, files={**spec.files, "log4j2.properties": f"{logging}\n"})
        )
    after_cold = bench.observe().boot

    assert after_live == before
    assert after_cold != before


@RESTARTED
def test_what_needs_a_restart_waits_for_its_turn(bench: Bench) -> None:
    with bench.infra.open(bench.namespace) as session:
        session.ensure_namespace(BUDGET)
    former = bench.spec()
    with bench.infra.open(bench.namespace) as session:
        missing = session.ensure_instance(former, may_restart=False)
    bench.run()
    before = bench.observe().boot
    colder = {"log4j2.properties": former.files["log4j2.properties"] + "\n"}
    wanted = replace(former, files={**former.files, **colder, "users.properties": "# new\n"})
    larger = replace(former, memory_mb=former.memory_mb + 16)

    # deferred, whatever it is, and for as long as it is
    for spec in (wanted, wanted, larger):
        with bench.infra.open(bench.namespace) as session:
            assert session.ensure_instance(spec, may_restart=False).restart_deferred
        assert bench.observe().boot == before

    # as before is not deferred, nor is what the broker reloads
    warmer = replace(former, files={**former.files, "users.properties": "# new\n"})
    with bench.infra.open(bench.namespace) as session:
        assert not session.ensure_instance(warmer, may_restart=False).restart_deferred
    assert bench.observe().boot == before

    # its turn
    with bench.infra.open(bench.namespace) as session:
        assert not session.ensure_instance(wanted).restart_deferred
    assert bench.observe().boot != before
    with bench.infra.open(bench.namespace) as session:
        assert not session.ensure_instance(wanted, may_restart=False).restart_deferred
    assert not missing.restart_deferred
