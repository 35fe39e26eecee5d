"""The supervisor client against a real supervisord of its own."""

import os
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from controlplane.core.errors import Invalid, Unavailable
from controlplane.embedded import supervisor_client
from controlplane.embedded.supervisor_client import Program, ProgramStatus, SupervisorClient

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="wps-") as name:
        yield Path(name)


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[SupervisorClient]:
    with supervisor_client.throwaway(folder) as running:
        yield running


def sleeper(folder: Path, name: str, *, revision: str = "", seconds: int = 1000) -> Program:
    return Program(
        name=name,
        command=["/bin/sleep", str(seconds)],
        directory=str(folder),
        log_file=str(folder / f"{name}.log"),
        revision=revision,
        environment={"A": "100%"},
    )


def wait_for(
    client: SupervisorClient, name: str, wanted: Callable[[ProgramStatus], bool]
) -> ProgramStatus:
    deadline = time.monotonic() + 120
    while True:
        status = client.find(name)
        if status is not None and wanted(status):
            return status
        assert time.monotonic() < deadline, status
        time.sleep(0.05)


def running(status: ProgramStatus) -> bool:
    return status.is_running


def test_the_pid_is_that_of_the_supervisor_itself(client: SupervisorClient, folder: Path) -> None:
    assert client.find_pid() == int((folder / "supervisord.pid").read_text())


def test_no_supervisor_has_no_pid(tmp_path: Path) -> None:
    assert SupervisorClient(tmp_path / "none.sock", tmp_path).find_pid() == 0


def test_ensure_starts_a_program_once(client: SupervisorClient, folder: Path) -> None:
    first = client.ensure(sleeper(folder, "once"))
    before = wait_for(client, "once", running)

    second = client.ensure(sleeper(folder, "once"))

    assert (first, second) == (True, False)
    assert wait_for(client, "once", running).pid == before.pid


def test_ensure_replaces_only_the_program_that_changed(
    client: SupervisorClient, folder: Path
) -> None:
    for name in ("kept", "changed"):
        client.ensure(sleeper(folder, name, revision="1"))
    before = {name: wait_for(client, name, running).pid for name in ("kept", "changed")}

    replaced = client.ensure(sleeper(folder, "changed", revision="2"))

    assert replaced
    assert wait_for(client, "changed", running).pid != before["changed"]
    assert wait_for(client, "kept", running).pid == before["kept"]


def test_a_killed_program_comes_back(client: SupervisorClient, folder: Path) -> None:
    client.ensure(sleeper(folder, "killed"))
    before = wait_for(client, "killed", running).pid

    os.kill(before, signal.SIGKILL)

    assert wait_for(client, "killed", lambda s: s.is_running and s.pid != before)


def test_remove_ends_the_program_and_may_be_repeated(
    client: SupervisorClient, folder: Path
) -> None:
    client.ensure(sleeper(folder, "gone"))
    pid = wait_for(client, "gone", running).pid

    outcomes = [client.remove("gone"), client.remove("gone")]

    assert outcomes == [True, False]
    assert client.find("gone") is None
    assert not Path(f"/proc/{pid}").exists()


def test_restart_gives_a_new_life(client: SupervisorClient, folder: Path) -> None:
    client.ensure(sleeper(folder, "again"))
    before = wait_for(client, "again", running).pid

    client.restart("again")

    assert wait_for(client, "again", running).pid != before


@pytest.mark.parametrize("text", ["a ;b", "a #b", "a\nb=c"])
def test_render_refuses_what_the_format_cannot_carry(text: str) -> None:
    program = Program(name="x", command=["/bin/true", text], directory="/", log_file="/l")

    with pytest.raises(Invalid):
        supervisor_client.render(program)


def test_an_illegal_name_is_refused(client: SupervisorClient, folder: Path) -> None:
    with pytest.raises(Invalid):
        client.ensure(sleeper(folder, "../escape"))


def test_an_absent_supervisor_is_unavailable(tmp_path: Path) -> None:
    client = SupervisorClient(tmp_path / "none.sock", tmp_path / "conf.d")

    with pytest.raises(Unavailable, match="waypost up"):
        client.list_programs()
