"""The command against an API that answers what a test says."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner, Result

from controlplane.cli import output
from controlplane.cli.app import app
from controlplane.rest_client import Api
from tests.support import rest_answers

Run = Callable[..., Result]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the command as a member of the tenant ``acme``; nobody sits at its terminal.

    ``answers``: what somebody types at its questions.
    """
    monkeypatch.setenv("WAYPOST_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("WAYPOST_TOKEN", "wps_x")
    monkeypatch.setenv("WAYPOST_TENANT", "acme")

    def invoke(*arguments: object, answers: str | None = None) -> Result:
        return CliRunner().invoke(app, [str(argument) for argument in arguments], input=answers)

    return invoke


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the API answers, by ``METHOD path`` or path; any other path is a KeyError.

    A function gets the request and returns what is answered.
    """
    said: dict[str, Any] = {}

    def answer(request: httpx.Request) -> httpx.Response:
        whole = path_of(request)
        path = whole.partition("?")[0]
        names = (f"{request.method} {path}", whole, path)
        found = said[next((name for name in names if name in said), whole)]
        found = found(request) if callable(found) else found
        if isinstance(found, bytes):
            return httpx.Response(200, content=found)
        return httpx.Response(200, json=found, headers={"ETag": '"7"'})

    rest_answers.answer_by(monkeypatch, answer)
    monkeypatch.setattr(Api, "wait", lambda _api, _tenant, operation, **_: operation)
    return said


def path_of(request: httpx.Request) -> str:
    """Return the path of a request below the root of the API, with its query."""
    return request.url.raw_path.decode().removeprefix("/api/v1")


@pytest.fixture(autouse=True)
def _answers_as_a_table() -> None:
    """Each command begins as a process of its own would."""
    output.answer_in(output.Format.TABLE)
