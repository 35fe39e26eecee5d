"""A space on the test API server, its pods run as real processes, used by real clients."""

import json
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from kubernetes.client import ApiClient, CoreV1Api
from proton import ProtonException
from proton.utils import BlockingConnection

from controlplane.core.audit import SYSTEM
from controlplane.core.instance_names import Kind, Listener
from controlplane.embedded import artifacts
from controlplane.embedded import ports as tcp_ports
from tenants.actions import address_spaces
from tenants.models import AddressSpace
from tests.support.kubernetes import look, process_node
from tests.support.kubernetes.process_node import ProcessNode
from tests.support.messaging import amqp, routing_rig
from tests.support.messaging.auth_process import AuthProcess
from tests.support.messaging.recording_metering import RecordingMetering
from tests.support.reconcile import patience, rows
from tests.support.waiting import eventually
from workers.infra import names
from workers.infra.base import Namespace
from workers.infra.kubernetes import resources, sizes
from workers.infra.kubernetes.adapter import KubernetesInfra
from workers.infra.kubernetes.api import Api
from workers.infra.kubernetes.cluster import Cluster
from workers.messaging import certificates
from workers.messaging.brokers import driver
from workers.messaging.routers import driver as routers
from workers.messaging.routers.routing import Routing
from workers.reconcile import loop
from workers.reconcile.outcome import Done, Wait
from workers.reconcile.ports import Ports

# Real transactions: the auth service is another process and must see the rows.
pytestmark = [
    pytest.mark.broker,
    pytest.mark.slow,
    pytest.mark.django_db(transaction=True),
    pytest.mark.allow_hosts(process_node.ADDRESSES),
]


@pytest.fixture
def processes(admin: ApiClient, tmp_path: Path, settings: Any) -> Iterator[ProcessNode]:
    settings.ARTEMIS_HOME = str(artifacts.artemis_home())
    with process_node.running(admin, tmp_path / "pods") as running:
        yield running


@pytest.fixture
def auth_port() -> int:
    return routing_rig.free_port()


@pytest.fixture
def ports(
    api: Api, wanted_cluster: Cluster, processes: ProcessNode, tmp_path: Path, auth_port: int
) -> Ports:
    return Ports(
        infra=KubernetesInfra(api, wanted_cluster),
        brokers=driver,
        routers=routers,
        routing=Routing(
            "qdrouterd",
            "127.0.0.1",
            auth_port,
            lambda now: certificates.control_authority(tmp_path / "control-ca", now),
        ),
        metering=RecordingMetering(),
        clock=timezone.now,
        identities_dir=tmp_path / "identities",
    )


def settle(space: AddressSpace, ports: Ports) -> None:
    outcome = patience.look(space.id, ports)
    assert isinstance(outcome, Done), outcome
    space.refresh_from_db()


def test_a_brokered_space_serves_and_needs_nobody_to_go_on(
    ports: Ports, api: Api, processes: ProcessNode, tmp_path: Path
) -> None:
    space = rows.make_space(rows.make_tenant())
    rows.make_address(space, "orders")
    rows.make_user(space, "alice", ("#", "send recv"))
    settle(space, ports)
    assert space.phase == "Active"
    with amqp.connected(space, tmp_path, "alice", rows.PASSWORD) as connection:
        amqp.send(connection, "orders", "one", "two")

    # an address more reaches the running broker by its mounted files, without another life
    name = names.namespace(space.tenant_id, space.id, space.name)
    first = processes.process_of(name, "broker-0").pid
    rows.make_address(space, "more")
    settle(space, ports)
    assert processes.process_of(name, "broker-0").pid == first

    # killed, with nothing of ours looking: the node starts it from what is mounted
    processes.process_of(name, "broker-0").kill()
    eventually(lambda: processes.process_of(name, "broker-0").pid != first)
    eventually(lambda: _is_ready(api, name))
    with amqp.connected(space, tmp_path, "alice", rows.PASSWORD) as connection:
        assert amqp.receive(connection, "orders", 2) == ["one", "two"]
        amqp.send(connection, "more", "three")

    address_spaces.delete(space=space, by=SYSTEM)
    settle(space, ports)
    assert space.deleted_at is not None
    assert name not in ports.infra.list_namespaces()


def test_a_standard_space_becomes_active_and_carries_messages(
    ports: Ports,
    auth_port: int,
    processes: ProcessNode,
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    auth = AuthProcess(auth_port, tmp_path, tmp_path / "control-ca")
    auth.start()
    request.addfinalizer(auth.stop)
    space = rows.make_space(rows.make_tenant(), kind="standard")
    rows.make_address(space, "orders")
    rows.make_address(space, "calls", "anycast")
    rows.make_user(space, "alice", ("#", "send recv"))
    settle(space, ports)
    name = names.namespace(space.tenant_id, space.id, space.name)
    with amqp.connected(space, tmp_path, "alice", rows.PASSWORD) as connection:
        amqp.send(connection, "orders", "one")

    # both killed, with nothing of ours looking but the auth service
    for instance in ("router-0", "broker-0"):
        processes.process_of(name, instance).kill()
    eventually(lambda: _serves(space, tmp_path))


def _serves(space: AddressSpace, folder: Path) -> bool:
    try:
        with amqp.connected(space, folder, "alice", rows.PASSWORD) as connection:
            return amqp.receive(connection, "orders", 1) == ["one"]
    except (ProtonException, OSError):
        return False


@pytest.mark.drill
def test_a_router_that_does_not_listen_for_clients_is_not_ready(
    ports: Ports, admin: ApiClient, processes: ProcessNode
) -> None:
    space = rows.make_space(rows.make_tenant(), kind="standard")
    settle(space, ports)
    name = names.namespace(space.tenant_id, space.id, space.name)
    with ports.infra.open(Namespace(name, space.tenant_id, space.id)) as session:
        place = session.layout_of(Kind.ROUTER, "router-0")

    def is_listening(port: str) -> bool:
        return tcp_ports.is_open(place.host, place.ports[port])

    # it comes back as ever, but for the listener of its clients
    _take_out_public_listener(admin, name)
    processes.process_of(name, "router-0").kill()
    eventually(lambda: not is_listening("management"))
    eventually(lambda: is_listening("management"))
    time.sleep(2)  # longer than the node takes to find it ready
    seen = loop.reconcile(space.id, ports, budget_seconds=0)

    assert isinstance(seen, Wait)
    # To the cluster it never starts, because its startup probe connects as a client does.
    assert seen.text == "RouterStarting: router-0 is not ready: it ended."
    assert seen.detail.startswith(
        "router-0 is not ready: starting. Before, it ended with exit code 137"
    )
    assert not is_listening("amqps")

    # that pass has fixed the file: the next start is a whole one
    processes.process_of(name, "router-0").kill()
    settle(space, ports)
    assert is_listening("amqps")


def test_a_router_that_cannot_start_says_why(
    ports: Ports, admin: ApiClient, processes: ProcessNode
) -> None:
    space = rows.make_space(rows.make_tenant(), kind="standard")
    settle(space, ports)
    name = names.namespace(space.tenant_id, space.id, space.name)

    _write_router_file(admin, name, "this is no configuration")
    processes.process_of(name, "router-0").kill()
    eventually(lambda: _waits_after(admin, name, exit_code=1))
    processes.withheld.add("router-0-0")  # nothing happens to it while the pass looks
    seen = loop.reconcile(space.id, ports, budget_seconds=0)

    assert isinstance(seen, Wait)
    assert seen.text == "RouterDown: router-0 is not ready: it ends soon after each start."
    began = "router-0 is not ready: CrashLoopBackOff: it ended with exit code 1 (Error)"
    assert seen.detail.startswith(f"{began}; it said last: ")
    said = seen.detail.partition("it said last: ")[2]
    assert "router.json: Expecting value" in said
    assert len(said) < 310
    space.refresh_from_db()
    assert "it said last" in space.conditions[0]["detail"]

    # that pass has fixed the file
    processes.withheld.discard("router-0-0")
    settle(space, ports)


def test_routers_are_joined_and_reach_brokers_by_the_names_of_services(
    ports: Ports,
    auth_port: int,
    processes: ProcessNode,
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    if not processes.has_real_router:
        pytest.skip("the development router runs alone, and no other one is installed")
    auth = AuthProcess(auth_port, tmp_path, tmp_path / "control-ca")
    auth.start()
    request.addfinalizer(auth.stop)
    space = rows.make_space(rows.make_tenant(), kind="standard", size="large")
    rows.make_address(space, "calls", "anycast")
    rows.make_address(space, "orders")
    rows.make_user(space, "alice", ("#", "send recv"))
    settle(space, ports)
    eventually(lambda: _is_joined(space, ports), "the routers are joined", seconds=60)

    with (
        _connected_to(space, "router-0", tmp_path) as sending,
        _connected_to(space, "router-1", tmp_path) as receiving,
    ):
        for address in ("calls", "orders"):
            receiver = receiving.create_receiver(address, credit=1)
            routing_rig.deliver(sending.create_sender(address), receiver, address)


def _connected_to(
    space: AddressSpace, router: str, folder: Path
) -> AbstractContextManager[BlockingConnection]:
    """Connect to one router of several; the space's service leads to any."""
    name = names.namespace(space.tenant_id, space.id, space.name)
    place = (f"{router}.{name}.svc", sizes.PORTS[Listener.AMQPS])
    trusted = space.endpoints.get().certificate_pem
    return amqp.connected_to(place, trusted, folder, "alice", rows.PASSWORD, timeout=10)


def _is_joined(space: AddressSpace, ports: Ports) -> bool:
    settle(space, ports)
    return any(condition["reason"] == "AsPlanned" for condition in space.conditions)


def _waits_after(admin: ApiClient, namespace: str, *, exit_code: int) -> bool:
    core: Any = CoreV1Api(admin)
    pod = core.read_namespaced_pod("router-0-0", namespace)
    (seen,) = pod.status.container_statuses
    ended = seen.last_state and seen.last_state.terminated
    return bool(seen.state.waiting and ended and ended.exit_code == exit_code)


def _write_router_file(admin: ApiClient, namespace: str, text: str) -> None:
    core: Any = CoreV1Api(admin)
    core.patch_namespaced_config_map("router-0-main", namespace, {"data": {"router.json": text}})


def _take_out_public_listener(admin: ApiClient, namespace: str) -> None:
    core: Any = CoreV1Api(admin)
    entries = json.loads(
        core.read_namespaced_config_map("router-0-main", namespace).data["router.json"]
    )
    kept = [
        entry for entry in entries if entry[1].get("name") != "wp-public" or entry[0] != "listener"
    ]
    assert len(kept) == len(entries) - 1
    _write_router_file(admin, namespace, json.dumps(kept))


def _is_ready(api: Api, namespace: str) -> bool:
    pod = look.find(api, resources.POD, namespace, "broker-0-0") or {}
    conditions = pod.get("status", {}).get("conditions", [])
    return any(
        condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions
    )
