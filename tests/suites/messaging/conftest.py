"""Real ports: a supervisord of its own, real brokers, a state folder."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path

import pytest
from django.utils import timezone
from pytest_django import Settings

from controlplane.embedded import artifacts, supervisor_client
from controlplane.embedded.supervisor_client import SupervisorClient
from tests.support.messaging import conformance, routing_rig
from tests.support.messaging.auth_process import AuthProcess
from tests.support.messaging.recording_metering import RecordingMetering
from tests.support.messaging.routing_rig import Rig
from workers.infra.local.adapter import LocalInfra
from workers.messaging import certificates
from workers.messaging.brokers import driver
from workers.messaging.certificates import KeyPair
from workers.messaging.routers import driver as routers
from workers.messaging.routers.routing import Routing
from workers.reconcile.ports import Ports

# A mesh takes several real routers; the development router runs alone.
_OF_A_MESH = ["test_router_mesh.py", "test_meshed_space.py"]
# 100,000 messages, and spaces of gigabytes, take half an hour: `make test-large` runs them.
WITH_LARGE = bool(os.environ.get("WAYPOST_TEST_LARGE"))
LARGE = ["test_many_messages.py", "test_filled_largest_plans.py"]
collect_ignore = [*([] if routing_rig.REAL_ROUTER else _OF_A_MESH), *([] if WITH_LARGE else LARGE)]


def pytest_report_header() -> str:
    """Say whether the suites with many messages run."""
    run = "run" if WITH_LARGE else "not run (make test-large)"
    return f"100,000 messages, and full spaces: {run}"


@pytest.fixture(scope="session")
def state_dir() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="wpv-") as name:
        yield Path(name)


@pytest.fixture(scope="session")
def supervisor(state_dir: Path) -> Iterator[SupervisorClient]:
    with supervisor_client.throwaway(state_dir) as client:
        yield client


@pytest.fixture
def local_infra(
    state_dir: Path, supervisor: SupervisorClient, settings: Settings
) -> Iterator[LocalInfra]:
    """The local adapter; whatever a test leaves running is removed after it."""
    settings.ARTEMIS_HOME = str(artifacts.artemis_home())
    infra = LocalInfra(state_dir, supervisor)
    yield infra
    left = [program.name for program in supervisor.list_programs()]
    with ThreadPoolExecutor() as pool:  # all at the same time
        list(pool.map(supervisor.stop, left))
    for name in left:
        supervisor.remove(name)
    shutil.rmtree(state_dir / "spaces", ignore_errors=True)


@pytest.fixture
def control_ca_dir(tmp_path: Path) -> Path:
    """Where the installation keeps its authority."""
    return tmp_path / "control-ca"


@pytest.fixture
def control_authority(control_ca_dir: Path) -> KeyPair:
    """The installation's authority, which vouches for the space of a router."""
    return certificates.control_authority(control_ca_dir, timezone.now())


@pytest.fixture
def auth_port() -> int:
    """Where routers find the auth service; it runs for the tests that take ``auth``.

    No outgoing connection takes the port before it listens, or while it is down.
    """
    return routing_rig.free_port()


@pytest.fixture
def auth(auth_port: int, tmp_path: Path, control_ca_dir: Path) -> Iterator[AuthProcess]:
    """The auth service, which reads the tests' database."""
    process = AuthProcess(auth_port, tmp_path, control_ca_dir)
    process.start()
    yield process
    process.stop()


@pytest.fixture
def router_engine() -> str:
    """The engine of standard spaces' routers; modules that compare engines parametrize it."""
    return routing_rig.ENGINES[-1]


@pytest.fixture(scope="module", params=routing_rig.ENGINES)
def running(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Rig]:
    """One router of each engine, for a module of the conformance tests."""
    with conformance.rig(tmp_path_factory.mktemp("router"), request.param) as made:
        yield made


@pytest.fixture
def router(running: Rig) -> Iterator[Rig]:
    """The module's router; the clients of a test leave with it."""
    yield running
    running.close_clients()


@pytest.fixture
def real_ports(
    local_infra: LocalInfra,
    tmp_path: Path,
    control_authority: KeyPair,
    auth_port: int,
    router_engine: str,
    settings: Settings,
) -> Ports:
    def authority(_now: datetime) -> KeyPair:
        return control_authority

    settings.ROUTER_BINARY = str(routing_rig.REAL_ROUTER)
    return Ports(
        infra=local_infra,
        brokers=driver,
        routers=routers,
        routing=Routing(router_engine, "127.0.0.1", auth_port, authority),
        metering=RecordingMetering(),
        clock=timezone.now,
        identities_dir=tmp_path / "identities",
    )
