"""Shared fixtures: a private PostgreSQL for each run, and the cast of three."""

import gc
import tempfile
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest
from django.db import connections
from django.test import override_settings
from xdist.remote import Producer

from controlplane.embedded import postgres
from tests.support import domain, engines
from tests.support.scheduling import ByServer

# Laws are about answers: a busy machine or a law that few inputs reach must not fail one.
hypothesis.settings.register_profile(
    "laws",
    deadline=None,
    suppress_health_check=[
        hypothesis.HealthCheck.filter_too_much,
        hypothesis.HealthCheck.too_slow,
    ],
)
hypothesis.settings.load_profile("laws")


# Suites that run real servers, the longest first.
_LONG = ("kubernetes", "e2e", "lakehouse", "messaging", "reconcile", "object_store")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with what takes long when several processes share the tests."""
    if hasattr(config, "workerinput"):
        items.sort(key=_rank)


def pytest_collection_finish() -> None:
    """Leave what the tests are made of out of garbage collections: it all stays until the end."""
    gc.collect()
    gc.freeze()


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ByServer:
    """Say which process gets which modules, in a run with several processes."""
    return ByServer(config, log)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say which router each suite ran on."""
    outcomes = [
        (report.nodeid, outcome)
        for outcome in ("passed", "failed", "error", "skipped")
        for report in terminalreporter.stats.get(outcome, [])
    ]
    lines = engines.summarize(outcomes)
    if lines:
        lines.append(f"router suites: installations run on {engines.installed()}")
    for line in lines:
        terminalreporter.write_line(line)


def _rank(item: pytest.Item) -> int:
    folder, suite, *_ = _path(item).parts
    return _LONG.index(suite) if folder == "suites" and suite in _LONG else len(_LONG)


def _path(item: pytest.Item) -> Path:
    return item.path.relative_to(Path(__file__).parent)


@pytest.fixture(scope="session", autouse=True)
def quick_passwords() -> Iterator[None]:
    """Hash passwords at once in this process; Argon2, the product's choice, takes 0.1 s for each.

    Servers that tests start read the settings themselves.
    """
    with override_settings(PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"]):
        yield


@pytest.fixture(scope="session", autouse=True)
def nobodys_login(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the login of whoever runs the tests out of their way, and out of their reach."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
        yield


@pytest.fixture(scope="session", autouse=True)
def nobodys_installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep tests out of the installation of this folder, which `make demo` and `make run` make.

    Servers that tests start get a folder of their own by their environment.
    """
    folder = tmp_path_factory.mktemp("state")
    with override_settings(
        STATE_DIR=folder,
        LAKEHOUSE_ROOT=str(folder / "lakehouse"),
        SUPERVISOR_SOCKET=str(folder / "run" / "supervisor.sock"),
        CONTROL_CA_DIR=folder / "control-ca",
    ):
        yield


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[postgres.Server]:
    """A throw-away PostgreSQL of this test run on a free loopback port."""
    with tempfile.TemporaryDirectory(prefix="waypost-test-") as folder:
        with postgres.throwaway(Path(folder)) as server:
            yield server


@pytest.fixture(scope="session")
def django_db_keepdb() -> bool:
    """Keep the database: its server is thrown away, and a drop fails while anybody is connected."""
    return True


@pytest.fixture(scope="session")
def django_db_modify_db_settings(postgres_server: postgres.Server) -> None:
    """Point Django at the throw-away server before pytest-django makes the test database."""
    settings = connections["default"].settings_dict
    settings.update(
        HOST=postgres_server.host,
        PORT=postgres_server.port,
        USER=postgres_server.user,
        PASSWORD=postgres_server.password,
        NAME="waypost",
    )


@pytest.fixture
def cast(db: None) -> domain.Cast:
    """The cast of three on the plan Team: owner, member (a developer), outsider."""
    return domain.cast()
