"""A start that is refused leaves nothing half-made, and what runs already is left alone."""

import socket
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import psutil
import pytest

from controlplane.core.errors import WaypostError
from controlplane.embedded import installation as installations
from controlplane.embedded import lock, refusals, routers, stack, supervision, supervisor_client
from controlplane.embedded.installation import Installation


@pytest.fixture
def taken() -> Iterator[int]:
    """A port that a stranger listens on."""
    with socket.socket() as stranger:
        stranger.bind(("127.0.0.1", 0))
        stranger.listen()
        yield stranger.getsockname()[1]


@pytest.fixture
def running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installation:
    """An installation that says it is up."""
    monkeypatch.setattr(supervisor_client.SupervisorClient, "is_up", lambda _self: True)
    return installations.create(tmp_path / "s")


def refusal(root: Path, **asked: Any) -> str:
    with pytest.raises(WaypostError) as refused:
        stack.up(root, **asked)
    return refused.value.error_code


def test_a_taken_port_leaves_no_folder(tmp_path: Path, taken: int) -> None:
    root = tmp_path / "s"

    assert refusal(root, web_port=taken) == "stack.port_taken"
    assert not root.exists()


def test_a_missing_java_leaves_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "s"
    monkeypatch.setenv("WAYPOST_JAVA", "/nonexistent/java")

    assert refusal(root).startswith("java.")
    assert not root.exists()


def test_missing_brokers_leave_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "s"
    monkeypatch.setenv("WAYPOST_CACHE", str(tmp_path / "empty"))

    assert refusal(root).startswith("artifact.")
    assert not root.exists()


def test_a_full_disk_leaves_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "deep" / "s"
    usage = psutil.disk_usage("/")
    monkeypatch.setattr("shutil.disk_usage", lambda _path: usage._replace(free=10_000_000))

    assert refusal(root) == "stack.disk_full"
    assert not root.exists()


def test_what_runs_already_is_left_to_whoever_started_it(running: Installation) -> None:
    code = refusal(running.root, settings={"WAYPOST_SAMPLE_SECONDS": "5"}, own=print)

    assert code == "stack.running"
    assert installations.load(running.root) == running


def test_another_port_for_what_runs_already_is_refused(running: Installation) -> None:
    assert refusal(running.root, web_port=running.ports.web + 1) == "stack.port_fixed"


def test_a_demonstration_leaves_what_it_did_not_start(
    running: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    from controlplane.demo import story

    stopped: list[Installation] = []
    monkeypatch.setattr(supervision, "stop", stopped.append)

    with pytest.raises(lock.Occupied):
        story.run(running.root, stays=False)

    assert stopped == []
    assert installations.load(running.root) == running


@pytest.mark.parametrize(("now", "is_left"), [(7, False), (8, True), (0, False)])
def test_a_demonstration_leaves_what_was_restarted(
    running: Installation,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    now: int,
    is_left: bool,
) -> None:
    from controlplane.demo import story

    pids, stopped = [7], []

    def up(
        _root: Path, *, settings: Mapping[str, str], own: Callable[[], None], **_: object
    ) -> Installation:
        own()
        return installations.with_settings(running, settings)

    def tell(_cast: object) -> None:
        pids[0] = now  # 0: it was stopped and not started again

    monkeypatch.setattr(supervisor_client.SupervisorClient, "find_pid", lambda _self: pids[0])
    monkeypatch.setattr(stack, "up", up)
    monkeypatch.setattr(stack, "take_last_samples", lambda *_: None)
    monkeypatch.setattr(supervision, "stop", lambda found, last: stopped.append(found.root))
    monkeypatch.setattr(story, "STORY", [tell])

    story.run(running.root, stays=False)

    assert stopped == ([] if is_left else [running.root])
    assert ("started again" in capsys.readouterr().out) is is_left
    left = installations.load(running.root)
    assert left is not None
    assert not left.settings.keys() & story.SETTINGS.keys()


def test_a_demonstration_that_only_waited_stops_nothing(
    running: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    from controlplane.demo import story
    from controlplane.demo.narrator import Narrator

    stopped: list[Path] = []

    def hear(_narrator: object, line: str) -> None:
        if line.startswith("waiting for"):
            raise KeyboardInterrupt

    monkeypatch.setattr(stack, "down", lambda root, **_: stopped.append(root))
    monkeypatch.setattr(Narrator, "line", hear)
    with lock.alone(running.root, "waypost up", say=print):
        assert story.run(running.root, stays=False) == 1

    assert stopped == []


def test_a_demonstration_without_its_provider_says_how_to_fetch_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from controlplane.demo import story

    root = tmp_path / "s"
    monkeypatch.setenv("WAYPOST_CACHE", str(tmp_path / "empty"))

    with pytest.raises(WaypostError, match="make setup OIDC=1") as refused:
        story.run(root, stays=False, oidc=True)

    assert refused.value.error_code == "keycloak.missing"
    assert not root.exists()


def test_a_folder_of_other_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")

    assert refusal(tmp_path) == "stack.folder_taken"
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_an_empty_folder_is_taken(tmp_path: Path) -> None:
    refusals.refuse_foreign_files(tmp_path)
    refusals.refuse_foreign_files(tmp_path / "none")

    assert list(tmp_path.iterdir()) == []
    assert not (tmp_path / "none").exists()


def test_status_names_a_router_that_does_not_start(tmp_path: Path) -> None:
    command = tmp_path / "qdrouterd"
    command.write_text("#!/bin/sh\necho 'a library is missing' >&2\nexit 127\n")
    command.chmod(0o755)

    assert routers.describe(command).startswith("a router that does not start")
