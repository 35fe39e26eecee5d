"""`waypost down --purge`: nothing is removed without a word of the person it belongs to."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from controlplane.cli import login_store
from controlplane.cli.app import app
from controlplane.cli.login_store import Login
from controlplane.core.errors import Invalid
from controlplane.embedded import installation as installations
from controlplane.embedded import ports
from tests.unit.controlplane.cli.conftest import Run


@pytest.fixture(autouse=True)
def _own_login(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    # Not the usual port, at which another installation may be started meanwhile.
    with ports.claiming() as claims:
        yield installations.create(tmp_path / "s", web_port=claims.take_any()).root


def test_a_purge_without_a_terminal_needs_yes(root: Path, run: Run) -> None:
    refused = run("down", "--purge", "--state", root).exception

    assert isinstance(refused, Invalid), refused
    assert refused.error_code == "confirmation.missing"
    assert (root / "installation.json").exists()


def test_a_purge_names_the_folder_and_takes_no_for_an_answer(root: Path) -> None:
    command = ["down", "--purge", "--state", str(root)]

    ended = CliRunner().invoke(app, command, input="n\n")

    assert ended.exit_code == 1
    assert str(root) in ended.stderr
    assert (root / "installation.json").exists()


def test_a_purge_with_yes_asks_nothing(root: Path, run: Run) -> None:
    ended = run("down", "--purge", "--yes", "--state", root)

    assert ended.exit_code == 0, ended.exception
    assert not root.exists()


def test_what_cannot_be_read_is_asked_about_too(root: Path, run: Run) -> None:
    (root / "installation.json").write_text("{broken")

    refused = run("down", "--purge", "--state", root).exception

    assert isinstance(refused, Invalid), refused
    assert root.exists()


def test_a_login_goes_with_its_installation(root: Path, run: Run) -> None:
    login_store.save(Login(installations.require(root).url, "wps_x", "acme"))

    ended = run("down", "--purge", "--yes", "--state", root)

    assert ended.exit_code == 0, ended.exception
    assert not login_store.path().exists()
    assert "your login at" in ended.stderr


def test_a_login_stays_without_a_purge(root: Path, run: Run) -> None:
    login_store.save(Login(installations.require(root).url, "wps_x", "acme"))

    assert run("down", "--state", root).exit_code == 0
    assert login_store.path().exists()


def test_a_login_elsewhere_stays(root: Path, run: Run) -> None:
    login_store.save(Login("http://127.0.0.1:9", "wps_x", "acme"))

    ended = run("down", "--purge", "--yes", "--state", root)

    assert ended.exit_code == 0, ended.exception
    assert login_store.path().exists()
    assert "your login at" not in ended.stderr


def test_what_cannot_be_read_is_removed_too(root: Path, run: Run) -> None:
    (root / "installation.json").write_text("{broken")

    ended = run("down", "--purge", "--yes", "--state", root)

    assert ended.exit_code == 0, ended.exception
    assert not root.exists()
