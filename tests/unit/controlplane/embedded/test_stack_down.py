"""Brokers and routers forget their counters when they stop, so the last samples come before."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from controlplane.core.errors import Unavailable
from controlplane.embedded import installation as installations
from controlplane.embedded import stack, supervision
from controlplane.embedded.installation import Installation
from controlplane.embedded.supervisor_client import ProgramStatus, SupervisorClient

SAMPLE = "controlplane.cli.sample"
STOP = "stop, ('postgres', 'valkey') last"


def supervised(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Let supervisord have programs with these names."""
    programs = [ProgramStatus(name, "RUNNING", 1, 0, "") for name in names]
    monkeypatch.setattr(SupervisorClient, "list_programs", lambda _: programs)


@pytest.fixture
def happened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What ``down`` does, in order, with an installation that seems to be up."""
    events: list[str] = []

    def run(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        events.append(command[-1])
        return subprocess.CompletedProcess(command, 0, "", "")

    supervised(monkeypatch, "postgres", "valkey", "web", "wp-orders-1a2b.broker-0")
    monkeypatch.setattr(SupervisorClient, "is_up", lambda _: True)
    monkeypatch.setattr(Installation, "environment", lambda _: {})
    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setattr(supervision, "stop", lambda _, last: events.append(f"stop, {last} last"))
    return events


@pytest.fixture
def made(tmp_path: Path) -> Installation:
    found = installations.create(tmp_path / "a")
    for folder in (found.run_dir, found.log_dir):
        folder.mkdir()
    return found


def test_last_samples_are_taken_before_anything_stops(
    made: Installation, happened: list[str]
) -> None:
    stack.down(made.root)

    assert happened == [SAMPLE, STOP]


def test_nothing_is_sampled_where_nothing_runs(
    made: Installation, happened: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SupervisorClient, "is_up", lambda _: False)

    said: list[str] = []

    stack.down(made.root, say=said.append)

    assert happened == [STOP]
    assert said == ["it is down already; ending what may be left of it"]


def test_nothing_is_sampled_where_no_broker_or_router_is_supervised(
    made: Installation, happened: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    supervised(monkeypatch, "postgres", "valkey", "web", "worker", "metering", "beat", "auth")

    stack.down(made.root)

    assert happened == [STOP]


def test_last_samples_are_taken_where_supervisord_does_not_say_what_it_runs(
    made: Installation, happened: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: SupervisorClient) -> list[ProgramStatus]:
        raise Unavailable("supervisord does not answer")

    monkeypatch.setattr(SupervisorClient, "list_programs", refuse)

    stack.down(made.root)

    assert happened == [SAMPLE, STOP]


def test_nothing_is_sampled_for_a_folder_that_is_removed(
    made: Installation, happened: list[str]
) -> None:
    stack.down(made.root, purge=True)

    assert happened == [STOP]
    assert not made.root.exists()


@pytest.mark.parametrize(
    "failure", [None, subprocess.TimeoutExpired([SAMPLE], 60), Unavailable("Java 17 is needed")]
)
def test_samples_that_fail_are_told_and_hinder_no_stop(
    made: Installation,
    happened: list[str],
    monkeypatch: pytest.MonkeyPatch,
    failure: Exception | None,
) -> None:
    def fail(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        if failure:
            raise failure
        return subprocess.CompletedProcess(command, 1, "", "no answer from broker-0")

    monkeypatch.setattr(subprocess, "run", fail)
    said: list[str] = []

    stack.down(made.root, say=said.append)

    assert happened == [STOP]
    assert any("not every counter could be read" in line for line in said)
