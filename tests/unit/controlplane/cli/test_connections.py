"""`waypost connections`: what it prints, what it asks the API to close, and that it asks first."""

import json
from typing import Any

import httpx
import pytest

from controlplane.core.errors import Invalid
from tests.unit.controlplane.cli.conftest import Run, path_of

PATH = "/tenants/acme/address-spaces/orders/connections"


@pytest.fixture
def posted(answers: dict[str, Any]) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []

    def post(request: httpx.Request) -> Any:
        found.append((path_of(request), json.loads(request.content)))
        return {"id": "opn_x", "state": "Succeeded", "steps": []}

    answers[f"{PATH}/close"] = post
    return found


def test_list_prints_the_connections_and_how_old_they_are(
    run: Run, answers: dict[str, Any]
) -> None:
    known = {"product": "rhea 3.0.2", "tls": "TLSv1.3 TLS_AES", "sent_per_second": 2.5}
    row = {"id": "router-0.7", "user": "till", "since": "2026-11-23T10:00:00Z", **known}
    summary = {"instance": "router-0", "total": 3, "listed": 1, "as_of": "2026-11-23T10:01:00Z"}
    answers[PATH] = {"items": [row], "next": None, "instances": [summary]}

    ended = run("connections", "list", "orders")

    assert "router-0.7" in ended.stdout
    assert [word for word in map(str, known.values()) if word not in ended.stdout] == []
    said = "router-0: 3 open, 2 of them not listed, as of 2026-11-23 10:01:00 UTC"
    assert said in " ".join(ended.stderr.split())


@pytest.mark.parametrize(
    ("arguments", "body"),
    [
        (["router-0.7", "router-0.8"], {"ids": ["router-0.7", "router-0.8"]}),
        (["--user", "till"], {"user": "till"}),
    ],
)
def test_close_sends_ids_or_a_user(
    run: Run, posted: list[tuple[str, Any]], arguments: list[str], body: Any
) -> None:
    ended = run("connections", "close", "orders", *arguments, "--yes")

    assert posted == [(f"{PATH}/close", body)]
    assert "done (opn_x)" in ended.stdout


def test_close_without_ids_or_a_user_closes_nothing(run: Run, posted: list[Any]) -> None:
    ended = run("connections", "close", "orders", "--yes")

    assert isinstance(ended.exception, Invalid)
    assert "Name the connections to close" in ended.exception.message
    assert posted == []
