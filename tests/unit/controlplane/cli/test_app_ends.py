"""How a command ends that nobody lets come to its end, or that has nothing to work on."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from controlplane.cli import app as loaded
from controlplane.cli import login_store, main
from controlplane.cli.app import app
from controlplane.core.errors import Denied, WaypostError
from controlplane.embedded import installation as installations
from controlplane.embedded import lock, stack
from tests.unit.controlplane.cli.conftest import Run

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


def test_a_question_that_nobody_answers_names_the_way_out() -> None:
    ended = CliRunner().invoke(app, ["login", "--url", "https://portal.example"])

    assert ended.exit_code == 2
    assert "as an option" in ended.stderr


def interrupt(*_: object, **__: object) -> Any:
    raise KeyboardInterrupt


def test_an_interrupted_command_says_so_in_one_line(run: Run, answers: dict[str, Any]) -> None:
    answers["/tenants/acme/address-spaces"] = interrupt

    ended = run("spaces", "list")

    assert ended.exit_code == 130
    assert ended.stderr == "interrupted\n"


@pytest.mark.parametrize("options", [(), ("--purge", "--yes")])
def test_an_interrupted_down_says_how_to_go_on(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, options: tuple[str, ...]
) -> None:
    monkeypatch.setattr(stack, "down", interrupt)

    ended = run("down", *options, "--state", tmp_path)

    assert ended.exit_code == 130
    assert f"continue with `waypost down{' --purge' if options else ''}`" in ended.stderr
    assert ended.stderr.endswith("interrupted\n")


def test_status_names_the_command_at_work(run: Run, tmp_path: Path) -> None:
    made = installations.create(tmp_path / "s")

    with lock.alone(made.root, "waypost up", say=print):
        table = run("status", "--state", made.root)
        answer = json.loads(run("status", "--state", made.root, "-o", "json").stdout)

    mine = f"`waypost up` (process {os.getpid()})"
    assert table.exit_code == 7
    assert f"{mine} is changing it now" in table.stdout
    assert (answer["is_up"], answer["changed_by"]) == (False, mine)


@pytest.fixture
def interrupts_as_at_start() -> Iterator[None]:
    """Python's own handler, whatever ran in this process before, and in whichever way it began.

    Spark leaves a handler of its own; what a script runs in the background ignores interrupts, and
    its children do too.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


INTERRUPT = "import os, signal; os.kill(os.getpid(), signal.SIGINT)"


@pytest.mark.usefixtures("interrupts_as_at_start")
@pytest.mark.parametrize(
    "planted",
    [INTERRUPT, f"try:\n    {INTERRUPT}\nexcept BaseException:\n    pass"],
    ids=["heard", "swallowed"],
)
def test_an_interrupt_while_the_command_is_loaded_leaves_no_traceback(
    tmp_path: Path, planted: str
) -> None:
    """Wherever in the imports: in a callback of Python's own an exception would be swallowed."""
    (tmp_path / "typer.py").write_text(f"{planted}\nprint('came on')\n")
    program = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from controlplane.cli import main"
    )

    ended = subprocess.run(
        [sys.executable, "-c", f"{program}; main()", "spaces", "list"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "interrupted\n")


@pytest.mark.usefixtures("interrupts_as_at_start")
def test_once_it_is_loaded_a_command_is_interrupted_as_any_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found: list[Any] = []
    monkeypatch.setattr(loaded, "run", lambda: found.append(signal.getsignal(signal.SIGINT)))

    main()

    assert found == [signal.default_int_handler]


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
