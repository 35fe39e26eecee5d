"""Real doors for verification: a supervisord of its own, real brokers, a state folder."""

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path

import pytest
from django.utils import timezone

from controlplane.embedded import artifacts, ports, supervisor_client
from controlplane.embedded.supervisor_client import SupervisorClient
from tests.support.messaging import routing_rig
from workers.infra.local.adapter import LocalInfra
from workers.messaging import certificates
from workers.messaging.brokers import driver
from workers.messaging.certificates import KeyPair
from workers.messaging.routers import driver as routers
from workers.reconcile.ports import Ports, Routing

# A mesh takes several real routers; the development router runs alone.
_OF_A_MESH = ["test_router_mesh.py", "test_meshed_space.py"]
collect_ignore = [] if routing_rig.REAL_ROUTER else _OF_A_MESH


class RecordingMetering:
    """Remembers what it was asked to sample last."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, Sequence[str] | None]] = []

    def last_sample(self, space_id: str, addresses: Sequence[str] | None) -> bool:
        self.asked.append((space_id, addresses))
        return True

    def before_restart(self, space_id: str, instance: str) -> bool:
        self.asked.append((space_id, [instance]))
        return True


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
    state_dir: Path, supervisor: SupervisorClient, settings: pytest.FixtureRequest
) -> Iterator[LocalInfra]:
    """The local adapter; whatever a test leaves running is removed after it."""
    settings.ARTEMIS_HOME = str(artifacts.artemis_home())  # type: ignore[attr-defined]
    infra = LocalInfra(state_dir, supervisor)
    yield infra
    left = [program.name for program in supervisor.list_programs()]
    with ThreadPoolExecutor() as pool:  # all at the same time
        list(pool.map(supervisor.stop, left))
    for name in left:
        supervisor.remove(name)
    shutil.rmtree(state_dir / "spaces", ignore_errors=True)


@pytest.fixture
def control_authority() -> KeyPair:
    """The installation's authority, which vouches for the space of a router."""
    return certificates.create_authority("control", timezone.now())


@pytest.fixture
def auth_port() -> int:
    """Where routers find the auth service: nobody is there unless a test module says so."""
    return ports.free_port()


@pytest.fixture
def router_engine() -> str:
    """The engine of standard spaces' routers; modules that compare engines override it."""
    return routing_rig.ENGINES[-1]


@pytest.fixture
def real_ports(
    local_infra: LocalInfra,
    tmp_path: Path,
    control_authority: KeyPair,
    auth_port: int,
    router_engine: str,
    settings: pytest.FixtureRequest,
) -> Ports:
    def authority(_now: datetime) -> KeyPair:
        return control_authority

    settings.ROUTER_BINARY = str(routing_rig.REAL_ROUTER)  # type: ignore[attr-defined]
    return Ports(
        infra=local_infra,
        brokers=driver,
        routers=routers,
        routing=Routing(router_engine, "127.0.0.1", auth_port, authority),
        metering=RecordingMetering(),
        clock=timezone.now,
        identities_dir=tmp_path / "identities",
    )
