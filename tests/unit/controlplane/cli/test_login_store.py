"""What is remembered about a login, and what goes before it."""

import stat
from pathlib import Path

import pytest

from controlplane.cli import login_store
from controlplane.cli.login_store import Login
from controlplane.core.errors import Denied


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for name in ("WAYPOST_URL", "WAYPOST_TOKEN", "WAYPOST_TENANT"):
        monkeypatch.delenv(name, raising=False)


def test_save_keeps_the_token_from_other_users() -> None:
    login_store.save(Login("http://127.0.0.1:1", "wps_x", "acme"))

    assert stat.S_IMODE(login_store.path().stat().st_mode) == 0o600
    assert login_store.load() == Login("http://127.0.0.1:1", "wps_x", "acme")


def test_environment_goes_before_what_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    login_store.save(Login("http://127.0.0.1:1", "wps_x", "acme"))
    monkeypatch.setenv("WAYPOST_TENANT", "other")

    assert login_store.load() == Login("http://127.0.0.1:1", "wps_x", "other")


def test_connect_without_login_says_what_to_do() -> None:
    with pytest.raises(Denied) as refusal:
        login_store.connect()

    assert "waypost login" in refusal.value.message


def test_a_broken_file_is_no_login() -> None:
    login_store.path().parent.mkdir(parents=True)
    login_store.path().write_text("{broken")

    assert login_store.load() == Login()
