"""`waypost up`, `status`, `down`: killed, repeated, side by side, refused."""

import json
import os
import re
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pytest

from controlplane.core.errors import Unavailable
from controlplane.embedded import installation as installations
from controlplane.embedded import ports, servers, stack, supervision
from controlplane.embedded.installation import Installation
from tests.suites.e2e.conftest import COMMAND, Waypost, short_folder
from tests.support.waiting import eventually

pytestmark = [pytest.mark.stack, pytest.mark.slow]


@dataclass(frozen=True)
class Made:
    """A new installation, and when its first ``up`` returned."""

    installation: Installation
    returned_at: datetime


@pytest.fixture(scope="module")
def made_second(running: Installation) -> Iterator[Made]:
    """A second installation, made while the first is up; tests leave it up or down."""
    with short_folder() as parent:
        made = stack.up(parent / "s", web_port=ports.reserve_port())
        yield Made(made, datetime.now(UTC))


@pytest.fixture
def other(made_second: Made) -> Installation:
    """The second installation, up, whatever the test before left of it."""
    return stack.up(made_second.installation.root)


def asked(
    processes: Iterable[psutil.Process], ask: Callable[[psutil.Process], Sequence[Any]]
) -> Iterator[tuple[psutil.Process, Sequence[Any]]]:
    """Yield what each says of itself that still lives: a server of a connection ends with it."""
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            yield process, ask(process)


@pytest.mark.drill
@pytest.mark.parametrize("seconds", [0.6, 1.5, 3.0, 4.5])
def test_up_killed_half_way_is_finished_by_the_next(folder: Path, seconds: float) -> None:
    first = subprocess.Popen(
        [COMMAND, "up", "--state", folder], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    time.sleep(seconds)
    assert first.poll() in (None, 0)  # it is at work, or done, and did not give up
    first.kill()
    first.wait()

    made = stack.up(folder)

    assert stack.status(folder).is_up
    stack.down(folder)
    assert supervision.list_processes(made) == []


def test_up_returns_when_the_workers_take_tasks(made_second: Made) -> None:
    for log in [made_second.installation.log_file(name) for name in servers.WORKERS]:
        # What a server said comes to the file by way of supervisord.
        eventually(partial(connected_at, log), f"{log} tells of a connection")
        assert connected_at(log) <= [made_second.returned_at]


def connected_at(log: Path) -> list[datetime]:
    """Return when the worker was first connected to its queue, as its log says; empty: not yet."""
    told = re.findall(r"^\[(.+?): INFO/MainProcess\] Connected to redis", log.read_text(), re.M)
    return [datetime.strptime(line, "%Y-%m-%d %H:%M:%S,%f").astimezone() for line in told[:1]]


def test_up_again_changes_nothing(running: Installation, waypost: Waypost) -> None:
    before = {server.name: server.pid for server in stack.status(running.root).servers}

    again = stack.up(running.root)
    told = waypost("up", "--state", running.root, "-o", "json")

    after = {server.name: server.pid for server in stack.status(running.root).servers}
    assert again == running
    assert after == before
    assert json.loads(told.stdout)["url"] == running.url


def test_up_from_another_shell_changes_nothing(
    running: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {server.name: server.pid for server in stack.status(running.root).servers}
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setenv("LC_ALL", "C")
    monkeypatch.setenv("HOME", str(tmp_path))

    stack.up(running.root)

    assert {server.name: server.pid for server in stack.status(running.root).servers} == before


def test_up_again_refuses_another_port(running: Installation, waypost: Waypost) -> None:
    refused = waypost("up", "--state", running.root, "--port", "1")

    assert refused.returncode == 5
    assert "stack.port_fixed" in refused.stderr


def test_a_setting_counts_until_it_is_taken_back(other: Installation, waypost: Waypost) -> None:
    def setting_of_web() -> str | None:
        (pid,) = [s.pid for s in stack.status(other.root).servers if s.name == "web"]
        return psutil.Process(pid).environ().get("WAYPOST_SMTP_PORT")

    waypost("up", "--state", other.root, "--set", "WAYPOST_SMTP_PORT=26")
    chosen = setting_of_web()
    waypost("up", "--state", other.root)
    kept = setting_of_web()
    waypost("up", "--state", other.root, "--set", "WAYPOST_SMTP_PORT=")

    assert (chosen, kept, setting_of_web()) == ("26", "26", None)


def test_everything_listens_on_loopback_only(running: Installation) -> None:
    listening = [
        connection.laddr
        for _, connections in asked(
            supervision.list_processes(running),
            lambda process: process.net_connections(kind="inet"),
        )
        for connection in connections
        if connection.status == psutil.CONN_LISTEN
    ]

    assert set(vars(running.ports).values()) <= {address.port for address in listening}
    # The last is Java's word.
    assert {address.ip for address in listening} <= {"127.0.0.1", "::1", "::ffff:127.0.0.1"}


def test_each_server_carries_the_mark_by_which_an_orphan_is_known(running: Installation) -> None:
    marks = {
        server.name: psutil.Process(server.pid).environ().get(supervision.MARK)
        for server in stack.status(running.root).servers
    }

    assert {"postgres", "valkey", "web", "worker", "beat", "auth"} <= set(marks)
    assert set(marks.values()) == {running.id}


def test_children_that_wrote_over_the_mark_are_known_by_their_parent(
    running: Installation,
) -> None:
    postgres = running.supervisor().find("postgres")
    assert postgres is not None
    [checkpointer] = [
        child
        for child, words in asked(psutil.Process(postgres.pid).children(), psutil.Process.cmdline)
        if "checkpointer" in " ".join(words)
    ]

    assert supervision.MARK not in checkpointer.environ()
    assert checkpointer in supervision.list_processes(running)


def test_secrets_are_readable_by_the_owner_only_and_not_logged(running: Installation) -> None:
    generated = list(vars(running.secrets).values())

    holding = [
        path
        for path in running.root.rglob("*")
        if path.is_file()
        and "postgres/data" not in str(path)
        and any(secret in path.read_text(errors="replace") for secret in generated)
    ]

    assert holding
    assert [path for path in holding if path.stat().st_mode & 0o077] == []
    assert [path for path in holding if path.suffix == ".log"] == []


@pytest.mark.parametrize("name", ["web", "worker", "valkey", "postgres"])
def test_a_killed_server_comes_back(running: Installation, name: str) -> None:
    killed = running.supervisor().find(name)
    assert killed is not None

    os.kill(killed.pid, signal.SIGKILL)

    def is_back() -> bool:
        now = running.supervisor().find(name)
        return now is not None and now.is_running and now.pid != killed.pid

    eventually(is_back, seconds=40)
    eventually(lambda: servers.is_web_ready(running), seconds=40)


def test_status_tells_programs_what_runs(running: Installation, waypost: Waypost) -> None:
    shown = waypost("status", "--state", running.root, "-o", "json")

    status = json.loads(shown.stdout)
    assert shown.returncode == 0
    assert status["is_up"]
    assert {"postgres", "valkey", "web", "worker", "beat", "auth"} <= {
        server["name"] for server in status["servers"]
    }


@pytest.mark.drill
def test_a_killed_supervisor_leaves_nothing_that_hinders_the_next_up(other: Installation) -> None:
    before = supervision.list_processes(other)
    supervisor = [
        process
        for process, words in asked(before, psutil.Process.cmdline)
        if "supervisor.supervisord" in " ".join(words)
    ]
    assert len(supervisor) == 1

    supervisor[0].kill()
    again = stack.up(other.root)

    assert set(before) & set(supervision.list_processes(other)) == set()
    assert stack.status(other.root).is_up
    assert again.secrets == other.secrets


def test_two_installations_live_side_by_side(running: Installation, other: Installation) -> None:
    assert set(vars(other.ports).values()).isdisjoint(vars(running.ports).values())

    stack.down(other.root)

    assert supervision.list_processes(other) == []
    assert stack.status(running.root).is_up


def test_a_remembered_port_that_is_taken_is_replaced(made_second: Made) -> None:
    other = installations.require(made_second.installation.root)
    stack.down(other.root)
    with socket.socket() as stranger:
        stranger.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # its last clients linger
        stranger.bind(("127.0.0.1", other.ports.valkey))
        stranger.listen()

        started = stack.up(other.root)

    assert started.ports.valkey != other.ports.valkey
    assert started.ports.web == other.ports.web


@pytest.mark.drill
def test_two_that_start_at_once_take_other_ports(waypost: Waypost) -> None:
    with tempfile.TemporaryDirectory(prefix="wp-") as parent, ThreadPoolExecutor() as pool:
        one, other = roots = [Path(parent) / name for name in ("a", "b")]
        wanted = vars(installations.create(one).ports)
        installations.move_ports(installations.create(other), wanted)
        try:
            started = list(pool.map(lambda root: waypost("up", "--state", root), roots))
            made = [installations.require(root) for root in roots]
        finally:
            for root in roots:
                waypost("down", "--purge", "--yes", "--state", root)

    assert [process.returncode for process in started] == [0, 0], started
    first, second = (set(vars(installation.ports).values()) for installation in made)
    assert first.isdisjoint(second)
    assert set(wanted.values()) & (first | second)


def test_another_portal_at_our_port_is_not_ours(running: Installation, folder: Path) -> None:
    made = installations.move_ports(installations.create(folder), {"web": running.ports.web})

    assert not servers.is_web_ready(made)
    assert not stack.status(folder).is_up
    assert stack.status(running.root).is_up


def test_an_asked_port_that_is_taken_is_refused(folder: Path, waypost: Waypost) -> None:
    with socket.socket() as stranger:
        stranger.bind(("127.0.0.1", 0))
        stranger.listen()

        refused = waypost("up", "--state", folder, "--port", str(stranger.getsockname()[1]))

    assert refused.returncode == 5
    assert "stack.port_taken" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert not folder.exists()


def test_up_without_java_says_what_to_install(
    folder: Path, monkeypatch: pytest.MonkeyPatch, waypost: Waypost
) -> None:
    monkeypatch.setenv("WAYPOST_JAVA", "/nonexistent/java")

    refused = waypost("up", "--state", folder)

    assert refused.returncode == 7
    assert "openjdk-17-jre-headless" in refused.stderr
    assert not folder.exists()


def test_up_on_a_full_disk_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = psutil.disk_usage("/")
    monkeypatch.setattr("shutil.disk_usage", lambda _path: usage._replace(free=10_000_000))

    with pytest.raises(Unavailable) as refusal:
        stack.up(folder)

    assert refusal.value.error_code == "stack.disk_full"


def test_down_where_nothing_is_says_so(folder: Path, waypost: Waypost) -> None:
    refused = waypost("down", "--state", folder)

    assert refused.returncode == 4
    assert "stack.nothing_here" in refused.stderr


def test_purge_removes_the_folder(folder: Path, waypost: Waypost) -> None:
    installations.create(folder)

    ended = waypost("down", "--purge", "--yes", "--state", folder)

    assert ended.returncode == 0
    assert not folder.exists()
