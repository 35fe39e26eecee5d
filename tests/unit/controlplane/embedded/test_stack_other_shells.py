"""What a shell has set is not an installation's configuration: another one restarts nothing."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from controlplane.embedded import artifacts, servers, supervision, supervisor_client
from controlplane.embedded import installation as installations
from controlplane.embedded.installation import Installation


def java(home: Path, version: int) -> Path:
    """Make a program that says it is a Java of this version; its folder of programs."""
    folder = home / "bin"
    folder.mkdir(parents=True)
    program = folder / "java"
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}.0.1\"' >&2\n")
    program.chmod(0o755)
    return folder


def cache(home: Path) -> Path:
    """Make a cache below ``home`` in which brokers are; the home."""
    place = home / ".cache" / "waypost" / artifacts.ARTEMIS.cache_path
    place.mkdir(parents=True)
    return home


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installation:
    """An installation first started by somebody with a Java of their own."""
    for name in ("WAYPOST_JAVA", "WAYPOST_CACHE", "JAVA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(cache(tmp_path / "first")))
    monkeypatch.setenv("PATH", f"{java(tmp_path / 'java-17', 17)}:/usr/bin:/bin")
    found = installations.keep_tools(installations.create(tmp_path / "s"))
    found.run_dir.mkdir()
    return found


def programs(installation: Installation) -> list[str]:
    """Every program as the supervisor compares it."""
    own = [*servers.service_programs(installation), servers.valkey_program(installation)]
    return [supervisor_client.render(program) for program in own]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PATH", "{tmp}/java-21/bin:/usr/bin:/bin"),
        ("PATH", "/nowhere"),
        ("JAVA_HOME", "{tmp}/java-21"),
        ("HOME", "{tmp}/other"),
        ("HOME", "/nowhere"),
        ("LC_ALL", "de_DE.UTF-8"),
        ("LANG", "C"),
        ("TMPDIR", "{tmp}"),
    ],
)
def test_another_shell_changes_no_program(
    made: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    java(tmp_path / "java-21", 21)
    cache(tmp_path / "other")
    before = programs(made)

    monkeypatch.setenv(name, value.format(tmp=tmp_path))
    found = installations.load(made.root)

    assert found is not None
    assert programs(installations.keep_tools(found)) == before


def test_a_named_java_is_used_from_then_on(
    made: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = java(tmp_path / "java-21", 21) / "java"
    monkeypatch.setenv("WAYPOST_JAVA", str(named))
    installations.keep_tools(made)
    monkeypatch.delenv("WAYPOST_JAVA")

    found = installations.load(made.root)

    assert found is not None
    assert found.environment()["JAVA_HOME"] == str(tmp_path / "java-21")


def test_a_kept_java_that_is_gone_is_looked_for_again(
    made: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "java-17").rename(tmp_path / "removed")
    monkeypatch.setenv("PATH", f"{java(tmp_path / 'java-21', 21)}:/usr/bin:/bin")

    assert made.environment()["JAVA_HOME"] == str(tmp_path / "java-21")


def test_a_kept_cache_that_is_empty_is_looked_for_again(
    made: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "first").rename(tmp_path / "gone")
    other = cache(tmp_path / "other")
    monkeypatch.setenv("HOME", str(other))

    assert made.environment()["WAYPOST_CACHE"] == str(other / ".cache" / "waypost")


def test_the_supervisor_starts_with_a_path_of_its_own(
    made: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[dict[str, str]] = []

    def run(command: list[Any], *, env: dict[str, str], **_: Any) -> Any:
        given.append(env)
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setattr(supervisor_client, "wait_up", lambda _client: None)

    supervision.start(made)

    assert given[0]["PATH"] == supervisor_client.SYSTEM_PATH


def test_scratch_files_end_with_the_servers(made: Installation) -> None:
    environment = made.environment()
    left = made.scratch_dir / "spark-1" / "blockmgr"
    left.mkdir(parents=True)

    supervision.stop(made, last=())

    assert not made.scratch_dir.exists()
    assert made.root in Path(environment["TMPDIR"]).parents
    assert environment["SPARK_SUBMIT_OPTS"] == f"-Djava.io.tmpdir={environment['TMPDIR']}"


def test_scratch_files_of_an_earlier_life_are_removed(
    made: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    (made.scratch_dir / "spark-1").mkdir(parents=True)
    ended = subprocess.CompletedProcess([], 0, "", "")
    monkeypatch.setattr(subprocess, "run", lambda *_args, **_options: ended)
    monkeypatch.setattr(supervisor_client, "wait_up", lambda _client: None)

    supervision.start(made)

    assert list(made.scratch_dir.iterdir()) == []


def test_an_installation_of_an_older_version_gets_its_scratch_folder_while_it_runs(
    made: Installation,
) -> None:
    assert installations.prepare_folder(made.root).scratch_dir.is_dir()


def test_scratch_files_that_cannot_be_removed_hold_up_no_start(
    made: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    (made.scratch_dir / "spark-1").mkdir(parents=True)
    ended = subprocess.CompletedProcess([], 0, "", "")
    monkeypatch.setattr(supervision, "_remove_scratch", lambda _installation: None)
    monkeypatch.setattr(subprocess, "run", lambda *_args, **_options: ended)
    monkeypatch.setattr(supervisor_client, "wait_up", lambda _client: None)

    assert supervision.start(made)
