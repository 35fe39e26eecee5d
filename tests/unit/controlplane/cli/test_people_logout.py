"""`waypost logout`: the login is forgotten, whatever has become of the server."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from controlplane.cli import login_store, people
from controlplane.cli.login_store import Login
from controlplane.core.errors import Unavailable, WaypostError
from controlplane.rest_client import Refused
from tests.unit.controlplane.cli.conftest import Run, path_of


@pytest.fixture
def _kept(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for name in ("WAYPOST_URL", "WAYPOST_TOKEN", "WAYPOST_TENANT"):
        monkeypatch.delenv(name)
    login_store.save(Login("http://127.0.0.1:9", "wps_x", "acme"))


@pytest.mark.usefixtures("_kept")
@pytest.mark.parametrize(
    "refusal",
    [
        Refused({"code": "token.invalid", "detail": "The token was revoked."}, 401),
        Unavailable("Nobody answers.", code="api.unreachable"),
    ],
    ids=["revoked", "down"],
)
def test_a_dead_login_is_forgotten(
    run: Run, answers: dict[str, Any], refusal: WaypostError
) -> None:
    def refuse(_: httpx.Request) -> None:
        raise refusal

    answers["DELETE /session"] = refuse

    ended = run("logout")

    assert ended.exit_code == 0, ended.exception
    assert not login_store.path().exists()
    assert f"removed only here, because the session could not be ended: {refusal.message}" in (
        " ".join(ended.stderr.split())
    )


@pytest.mark.usefixtures("_kept")
def test_a_living_one_is_ended_and_forgotten(run: Run, answers: dict[str, Any]) -> None:
    ended_sessions: list[str] = []

    def end(request: httpx.Request) -> bytes:
        ended_sessions.append(path_of(request))
        return b""

    answers["DELETE /session"] = end

    ended = run("logout")

    assert (ended.exit_code, ended.stderr) == (0, "")
    assert ended_sessions == ["/session"]
    assert not login_store.path().exists()


@pytest.mark.usefixtures("_kept")
def test_the_stored_login_is_ended_and_not_that_of_the_environment(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens: list[str] = []
    monkeypatch.setenv("WAYPOST_TOKEN", "wps_of_a_script")
    monkeypatch.setattr(people, "_end_session", lambda login: tokens.append(login.token))

    run("logout")

    assert tokens == ["wps_x"]
    assert not login_store.path().exists()
