"""How a command ends that nobody lets come to its end, or that has nothing to work on."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from controlplane.cli import login_store
from controlplane.cli.app import app
from controlplane.core.errors import Denied, WaypostError
from controlplane.rest_client import Api
from tests.unit.cli.conftest import Run

DELETIONS = [
    ("spaces", "delete", "orders"),
    ("addresses", "delete", "orders", "jobs"),
    ("users", "revoke", "orders", "worker"),
]


@pytest.mark.parametrize("command", DELETIONS)
def test_a_deletion_without_a_terminal_asks_for_yes(run: Run, command: tuple[str, ...]) -> None:
    ended = run(*command)

    assert isinstance(ended.exception, WaypostError), ended.output
    assert ended.exception.error_code == "confirmation.missing"
    assert "--yes" in ended.exception.message


@pytest.mark.parametrize("command", DELETIONS)
def test_a_deletion_that_is_declined_does_nothing(run: Run, command: tuple[str, ...]) -> None:
    ended = CliRunner().invoke(app, list(command), input="n\n")

    assert ended.exit_code == 1
    assert "nothing was done" in ended.stderr


def test_a_question_that_nobody_answers_names_the_way_out(tmp_path: Path) -> None:
    ended = CliRunner().invoke(app, ["login", "--state", str(tmp_path)])

    assert ended.exit_code == 2
    assert "as an option" in ended.stderr


def test_an_interrupted_command_says_so_in_one_line(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object, **__: object) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(Api, "get", interrupt)

    ended = run("spaces", "list")

    assert ended.exit_code == 130
    assert ended.stderr == "interrupted\n"


def test_ctrl_c_leaves_no_traceback() -> None:
    """At any time, also while Python is still loading the command."""
    for seconds in (0.0, 0.3, 1.0, 3.0):
        program = "from controlplane.cli import main; print('begun', flush=True); main()"
        waiting = subprocess.Popen(
            [sys.executable, "-c", program, "spaces", "list"],
            env={**os.environ, **_unreachable()},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert waiting.stdout is not None
        waiting.stdout.readline()
        time.sleep(seconds)

        waiting.send_signal(signal.SIGINT)
        _, told = waiting.communicate(timeout=30)

        assert waiting.returncode == 130, told
        assert told.splitlines() == ["interrupted"]


def _unreachable() -> dict[str, str]:
    return {
        "WAYPOST_URL": "http://127.0.0.1:9",
        "WAYPOST_TOKEN": "wps_x",
        "WAYPOST_TENANT": "acme",
    }


@pytest.mark.parametrize(
    "command",
    [
        ("status",),
        ("down",),
        ("down", "--purge"),
        ("backup", "b"),
        ("catalog", "publish", __file__),
        ("login", "--email", "a@b.example", "--password", "x"),
    ],
)
def test_where_no_installation_is_every_command_says_what_to_do(
    tmp_path: Path, command: tuple[str, ...]
) -> None:
    ended = CliRunner().invoke(app, [*command, "--state", str(tmp_path / "none")])

    refusal = ended.exception
    assert isinstance(refusal, WaypostError), ended.output
    assert (refusal.status, refusal.error_code) == (404, "stack.nothing_here")
    assert "--state" in refusal.message
    assert not (tmp_path / "none").exists()


def test_an_account_without_a_tenant_is_told_to_name_one(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("WAYPOST_TENANT")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))

    with pytest.raises(Denied) as refused:
        login_store.connect()

    assert refused.value.error_code == "login.no_tenant"
    assert "--tenant" in refused.value.message
