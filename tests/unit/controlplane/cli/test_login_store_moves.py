"""An installation that moves to another port takes the login along."""

from pathlib import Path

import pytest

from controlplane.cli import login_store
from controlplane.cli.login_store import Login
from controlplane.core.errors import Unavailable
from controlplane.embedded import installation as installations
from controlplane.embedded import stack
from controlplane.embedded.installation import Installation
from tests.unit.controlplane.cli.conftest import Run


@pytest.fixture
def made(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Installation:
    """An installation; `up` moves it to port 4711 and then fails if told so."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in ("WAYPOST_URL", "WAYPOST_TOKEN", "WAYPOST_TENANT"):
        monkeypatch.delenv(name)
    made = installations.create(tmp_path / "s")
    monkeypatch.setattr(stack, "up", lambda *_, **__: _moved(made))
    return made


def _moved(made: Installation) -> Installation:
    return installations.move_ports(made, {"web": 4711})


def test_the_login_goes_where_the_installation_went(made: Installation, run: Run) -> None:
    login_store.save(Login(made.url, "wps_x", "acme"))

    ended = run("up", "--state", made.root)

    assert ended.exit_code == 0, ended.exception
    assert login_store.load() == Login("http://127.0.0.1:4711", "wps_x", "acme")
    assert "http://127.0.0.1:4711, and your login was changed" in ended.stderr


def test_it_goes_along_even_if_the_start_then_fails(
    made: Installation, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        _moved(made)
        raise Unavailable("no disk", code="stack.prepare")

    monkeypatch.setattr(stack, "up", fail)
    login_store.save(Login(made.url, "wps_x", "acme"))

    ended = run("up", "--state", made.root)

    assert isinstance(ended.exception, Unavailable)
    assert login_store.load().url == "http://127.0.0.1:4711"


def test_a_login_elsewhere_stays(made: Installation, run: Run) -> None:
    elsewhere = Login("https://waypost.example", "wps_x", "acme")
    login_store.save(elsewhere)

    run("up", "--state", made.root)

    assert login_store.load() == elsewhere


def test_nobody_is_logged_in_by_a_move(made: Installation, run: Run) -> None:
    run("up", "--state", made.root)

    assert not login_store.path().exists()
