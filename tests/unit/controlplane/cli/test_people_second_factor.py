"""`waypost login` to an account with a second factor."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from controlplane.cli import login_store
from controlplane.rest_client import Refused
from tests.unit.controlplane.cli.conftest import Run

LOGIN = ("login", "--url", "http://a.test", "--email", "a@b.test", "--password", "long-enough")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, answers: dict[str, Any]) -> list[Any]:
    """What was sent to a server that wants the code 123456."""
    sent: list[Any] = []

    def begin(request: httpx.Request) -> dict[str, Any]:
        body = json.loads(request.content)
        sent.append(body)
        if body.get("code") != "123456":
            raise Refused({"code": "login.second_factor_needed", "detail": "Give the code."}, 403)
        return {"token": "wps_x", "tenants": [{"slug": "acme"}]}

    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    answers["/session"] = begin
    return sent


def test_the_code_is_asked_for(run: Run, asked: list[Any]) -> None:
    ended = run(*LOGIN, answers="123456\n")

    assert ended.exit_code == 0, ended.exception
    assert [body.get("code") for body in asked] == [None, "123456"]
    assert login_store.stored().token == "wps_x"


def test_without_a_terminal_the_refusal_is_shown(run: Run, asked: list[Any]) -> None:
    ended = run(*LOGIN)

    assert isinstance(ended.exception, Refused)
    assert ended.exception.error_code == "login.second_factor_needed"
    assert len(asked) == 1
