"""What the commands share to call the generated functions: pages, edits, bodies that are none."""

import json
from functools import partial
from typing import Any

import httpx
import pytest

from controlplane.cli import calls
from controlplane.client.api import maintenance_windows, tokens
from controlplane.client.models.windows_request import WindowsRequest
from controlplane.client.types import Response
from controlplane.core.errors import Unavailable
from controlplane.rest_client import Api, Json, Refused
from tests.support import rest_answers
from tests.unit.controlplane.cli.conftest import Run, path_of

PATH = "/tenants/acme/maintenance-windows"
OVERRIDE = "/staff/tenants/acme/quotas/spaces"


class Server:
    """Answers one request after the other, and keeps what was asked."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *answers: httpx.Response) -> None:
        self.left, self.asked = list(answers), list[httpx.Request]()
        rest_answers.answer_by(monkeypatch, self.answer)
        self.api = Api("http://127.0.0.1:9", "wps_x")

    def answer(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        return self.left.pop(0)

    def tags(self) -> list[str | None]:
        """Return the If-Match of each request."""
        return [request.headers.get("If-Match") for request in self.asked]

    def change(self) -> Json:
        """Let each window last an hour more."""

        def write(present: Json, tag: str) -> Response[Any]:
            longer = [{**one, "minutes": one["minutes"] + 60} for one in present["windows"]]
            body = WindowsRequest.from_dict({"windows": longer})
            return maintenance_windows.replace_maintenance_windows.sync_detailed(
                "acme", client=self.api.client, body=body, if_match=tag
            )

        read = maintenance_windows.get_maintenance_windows
        return calls.change(
            self.api, lambda: read.sync_detailed("acme", client=self.api.client), write
        )


def windows(minutes: int, tag: str = "") -> httpx.Response:
    body = {"windows": [{"weekday": 6, "starts_at": "02:00", "minutes": minutes}]}
    return httpx.Response(200, json=body, headers={"ETag": tag} if tag else {})


def somebody_was_first() -> httpx.Response:
    return httpx.Response(412, json={"code": "generation.changed"})


def test_a_change_is_made_again_on_what_somebody_else_made(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = [windows(30, '"1"'), somebody_was_first(), windows(60, '"2"'), windows(120)]
    server = Server(monkeypatch, *answers)

    assert server.change()["windows"][0]["minutes"] == 120

    assert server.tags() == [None, '"1"', None, '"2"']
    assert json.loads(server.asked[-1].content)["windows"][0]["minutes"] == 120
    assert {path_of(request) for request in server.asked} == {PATH}


def test_a_change_ends_if_somebody_else_is_always_first(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = [answer for _ in range(3) for answer in (windows(30, '"1"'), somebody_was_first())]
    server = Server(monkeypatch, *answers)

    with pytest.raises(Refused) as refused:
        server.change()

    assert refused.value.http_status == 412
    assert server.left == []


def test_a_change_on_a_server_without_tags_is_made_on_any_state(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server = Server(monkeypatch, windows(30), windows(90))

    server.change()

    assert server.tags() == [None, "*"]


def test_rows_come_from_all_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    following = "/api/v1/tenants/acme/tokens?cursor=a%2Bb&limit=1"
    server = Server(
        monkeypatch,
        httpx.Response(200, json={"items": [{"id": 1}], "next": following}),
        httpx.Response(200, json={"items": [{"id": 2}], "next": None}),
    )
    page = partial(tokens.list_tokens.sync_detailed, "acme", client=server.api.client, limit=1)

    rows = calls.rows(server.api, page)

    assert next(rows) == {"id": 1}
    assert len(server.asked) == 1
    assert list(rows) == [{"id": 2}]
    assert path_of(server.asked[1]) == "/tenants/acme/tokens?cursor=a%2Bb&limit=1"


def test_rows_of_an_older_server_are_a_bare_list(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server(monkeypatch, httpx.Response(200, json=[{"id": 1}]))
    page = partial(tokens.list_tokens.sync_detailed, "acme", client=server.api.client)

    assert list(calls.rows(server.api, page)) == [{"id": 1}]


def test_a_body_of_something_else_is_not_waypost(run: Run, answers: dict[str, Any]) -> None:
    answers["/tenants/acme/tokens"] = b"<html>"

    refused = run("tokens", "list").exception

    assert isinstance(refused, Unavailable)
    assert refused.error_code == "api.not_waypost"


@pytest.mark.parametrize(
    ("status", "headers", "condition"),
    [
        (200, {"ETag": '"7"'}, {"if-match": '"7"'}),
        (200, {}, {"if-match": "*"}),  # by a server of an older version, as the next two
        (405, {}, {"if-match": "*"}),
        (404, {}, {"if-none-match": "*"}),
    ],
)
def test_an_override_is_put_on_the_state_that_was_read(
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    status: int,
    headers: dict[str, str],
    condition: dict[str, str],
) -> None:
    found = httpx.Response(status, json={}, headers=headers)
    server = Server(monkeypatch, found, httpx.Response(200, json={"amount": 5}))

    ended = run("staff", "quotas", "set", "acme", "spaces", "5", "--reason", "more")

    assert ended.exit_code == 0, ended.exception
    assert [path_of(request) for request in server.asked] == [OVERRIDE, OVERRIDE]
    sent = server.asked[1].headers
    assert {name: sent[name] for name in ("if-match", "if-none-match") if name in sent} == condition


def test_a_token_that_is_no_number_does_not_exist(run: Run, answers: dict[str, Any]) -> None:
    answers["/tenants/acme/tokens"] = {"items": [], "next": None}

    refused = run("tokens", "revoke", "abc").exception

    assert getattr(refused, "error_code", None) == "api_token.missing"
