"""`waypost login`: what is remembered, and what is not."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from controlplane.cli import extras, login_store, output
from controlplane.cli.login_store import Login
from controlplane.core.errors import Missing, Unavailable
from tests.unit.controlplane.cli.conftest import Run, path_of

_AT = "http://127.0.0.1:9"
_COMMAND = ("login", "--url", _AT, "--email", "a@acme.example", "--password", "secret")


@pytest.fixture(autouse=True)
def _session(
    tmp_path: Path, run: Run, answers: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for name in ("WAYPOST_URL", "WAYPOST_TOKEN", "WAYPOST_TENANT"):
        monkeypatch.delenv(name)
    answers["/session"] = {"token": "wps_x", "tenants": [{"slug": "acme"}, {"slug": "beta"}]}


@pytest.mark.parametrize(("chosen", "expected"), [((), "acme"), (("--tenant", "beta"), "beta")])
def test_the_chosen_tenant_is_remembered_or_the_first(
    run: Run, chosen: tuple[str, ...], expected: str
) -> None:
    assert run(*_COMMAND, *chosen).exit_code == 0
    assert login_store.load() == Login(_AT, "wps_x", expected)


def test_the_email_that_was_typed_is_named(run: Run) -> None:
    done = run("login", "--url", _AT, answers="a@acme.example\nsecret\n")

    assert "as a@acme.example, tenant acme" in done.output


@pytest.mark.parametrize("is_up", [True, False])
def test_a_tenant_of_somebody_else_is_missing_and_the_session_ends(
    run: Run, answers: dict[str, Any], is_up: bool
) -> None:
    ended_sessions: list[str] = []

    def end(request: httpx.Request) -> bytes:
        ended_sessions.append(path_of(request))
        if not is_up:
            raise Unavailable("Nobody answers.", code="api.unreachable")
        return b""

    answers["DELETE /session"] = end

    refused = run(*_COMMAND, "--tenant", "other").exception

    assert isinstance(refused, Missing), refused
    assert (refused.error_code, output.exit_code(refused)) == ("login.tenant", 4)
    assert "yours: acme, beta" in refused.message
    assert ended_sessions == ["/session"]
    assert not login_store.path().exists()


def test_without_an_installation_of_this_machine_the_url_must_be_given(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extras, "has_embedded", lambda: False)

    refused = run("login", "--email", "a@acme.example", "--password", "secret").exception

    assert isinstance(refused, Missing), refused
    assert refused.error_code == "login.url"
    assert "--url" in refused.message
