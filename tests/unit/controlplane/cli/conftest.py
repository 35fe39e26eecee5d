"""The command against an API that answers what a test says."""

from collections.abc import Callable
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from controlplane.cli import output
from controlplane.cli.app import app
from controlplane.rest_client import Api

Run = Callable[..., Result]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the command as a member of the tenant ``acme``; nobody sits at its terminal."""
    monkeypatch.setenv("WAYPOST_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("WAYPOST_TOKEN", "wps_x")
    monkeypatch.setenv("WAYPOST_TENANT", "acme")
    return lambda *arguments: CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the API answers, by path; any other path is a KeyError."""
    said: dict[str, Any] = {}
    monkeypatch.setattr(Api, "get", lambda _api, path, **_: said[path])
    monkeypatch.setattr(Api, "get_bytes", lambda _api, path, **_: said[path])
    monkeypatch.setattr(Api, "post", lambda _api, path, _body=None: said[path])
    monkeypatch.setattr(Api, "post_once", lambda _api, path, _body: said[path])
    monkeypatch.setattr(Api, "wait", lambda _api, _tenant, operation, **_: operation)
    return said


@pytest.fixture(autouse=True)
def _answers_as_a_table() -> None:
    """Each command begins as a process of its own would."""
    output.answer_in(output.Format.TABLE)
