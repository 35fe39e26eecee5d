"""The docs' program for the API, in an environment with the wheel of the client alone."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from controlplane.core.audit import SYSTEM
from controlplane.core.models import Operation
from tenants.actions import api_tokens
from tenants.models import Address, AddressSpace, Role, Tenant
from tests.support import client_wheel, command, domain
from tests.support.source_tree import CLIENT, ROOT
from tests.support.waiting import eventually

pytestmark = pytest.mark.slow
PROGRAM = ROOT / "docs/examples/python/client.py"
Run = Callable[[Tenant, Role], tuple[int, str]]


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a fresh environment."""
    return client_wheel.install(tmp_path_factory.mktemp("client"))


@pytest.fixture
def cast(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> domain.Cast:
    """A tenant with a space that has the queue `orders`."""
    monkeypatch.setattr("controlplane.core.enqueue._send", lambda *_: None)
    made = domain.cast()
    domain.address(domain.space(made.tenant, "brokered"), "orders")
    return made


@pytest.fixture
def run(live_server: Any, tmp_path: Path, python: Path, cast: domain.Cast) -> Run:
    """Run the program in the tenant's space with a token of any tenant, to create `jobs`.

    Returns its exit code and what it printed.
    """
    place = {"WAYPOST_URL": live_server.url, "WAYPOST_TENANT": cast.tenant.slug}

    def run_with(holder: Tenant, role: Role) -> tuple[int, str]:
        name = f"program-{holder.api_tokens.count()}"
        _, token = api_tokens.issue(tenant=holder, name=name, role=role, expires_at=None, by=SYSTEM)
        log = tmp_path / "log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                [python, PROGRAM, AddressSpace.objects.get().name, "jobs"],
                env={**os.environ, **place, "WAYPOST_TOKEN": token},
                stdout=output,
                stderr=output,
            )
        try:
            eventually(lambda: _has_ended(process), "the program has ended", seconds=60)
        finally:
            process.kill()
            process.wait()
        return process.returncode, log.read_text()

    return run_with


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Return whether the process has ended; do meanwhile what workers do."""
    for row in Operation.objects.filter(finished_at__isnull=True):
        command.apply_rows({"id": row.pk})
    return process.poll() is not None


def test_the_program_creates_an_address_once(run: Run, cast: domain.Cast) -> None:
    first = run(cast.tenant, Role.DEVELOPER)
    again = run(cast.tenant, Role.DEVELOPER)

    listed = "jobs: queue, Active\norders: queue, Active\n"
    assert first == (0, f"jobs is ready\n{listed}")
    assert again == (0, f"jobs exists already\n{listed}")


def test_a_refusal_says_its_code(run: Run, cast: domain.Cast) -> None:
    viewer = run(cast.tenant, Role.VIEWER)
    outsider = run(cast.other, Role.OWNER)

    for (code, printed), reason in ((viewer, "(denied)"), (outsider, "(missing)")):
        assert code == 1
        assert "waypost_client.errors.Refused: " in printed
        assert printed.rstrip().endswith(reason)
    assert [row.address for row in Address.objects.all()] == ["orders"]


def test_the_wheel_holds_what_the_command_uses(python: Path) -> None:
    (package,) = python.parents[1].glob("lib/*/site-packages/waypost_client")

    assert "py.typed" in client_wheel.sources(package)
    assert client_wheel.sources(package) == client_wheel.sources(CLIENT)
