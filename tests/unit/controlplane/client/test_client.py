"""The generated client: what it sends, what it makes of answers, and what it raises."""

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from controlplane.client import models
from controlplane.client.api import address_spaces, session, tokens
from controlplane.client.client import AuthenticatedClient, Client
from controlplane.client.errors import Refused, Unexpected

URL = "http://127.0.0.1:9"
OPERATION = {
    "id": "opn_x",
    "kind": "create",
    "subject_type": "address",
    "subject_id": "adr_x",
    "subject_name": "jobs",
    "target_generation": 1,
    "restarts": None,
    "messages_changed": None,
    "state": "Paused",  # by a newer server
    "steps": [],
    "error_code": "",
    "error_message": "",
    "created_at": "2026-11-23T10:00:00Z",
    "finished_at": None,
    "mood": "good",  # the same
}


class Server:
    """Answers every request with ``answer``, and keeps what was asked."""

    def __init__(self, answer: httpx.Response) -> None:
        self.asked: list[httpx.Request] = []
        self._answer = answer
        http = httpx.Client(base_url=URL, transport=httpx.MockTransport(self._keep))
        self.client = AuthenticatedClient(URL, "wp_x", http=http)

    def _keep(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        return self._answer


def create(client: AuthenticatedClient) -> models.Operation:
    wanted = models.AddressCreateRequest(address="jobs", type_="queue", plan="p")
    return address_spaces.create_address.sync("acme", "a/b", client=client, body=wanted)


def test_what_is_not_given_is_not_sent() -> None:
    server = Server(httpx.Response(202, json=OPERATION))

    create(server.client)

    (request,) = server.asked
    assert json.loads(request.content) == {"address": "jobs", "type": "queue", "plan": "p"}
    assert "Idempotency-Key" not in request.headers
    assert request.url.raw_path == b"/api/v1/tenants/acme/address-spaces/a%2Fb/addresses"


def test_the_answer_of_a_newer_server_is_kept_whole() -> None:
    operation = create(Server(httpx.Response(202, json=OPERATION)).client)

    assert (operation.id, operation.state) == ("opn_x", "Paused")
    assert operation.additional_properties == {"mood": "good"}


def test_a_body_is_read_when_it_is_asked_for() -> None:
    server = Server(httpx.Response(200, json={"rows": []}, headers={"ETag": '"7"'}))

    answer = tokens.list_tokens.sync_detailed("acme", client=server.client)

    assert (answer.status_code, answer.headers["ETag"]) == (200, '"7"')
    assert answer.json() == {"rows": []}
    with pytest.raises(KeyError):
        _ = answer.parsed


def test_a_refusal_has_its_problem() -> None:
    problem = {
        "type": "about:blank",
        "title": "t",
        "status": 409,
        "instance": "/x",
        "fields": {},
        "code": "address.exists",
        "detail": "There is one.",
    }
    server = Server(httpx.Response(409, json=problem))

    with pytest.raises(Refused, match=r"^There is one\. \(address\.exists\)$") as refused:
        create(server.client)

    assert (refused.value.status_code, refused.value.problem.code) == (409, "address.exists")


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(502, text="<html>"),
        httpx.Response(404, json=["no problem"]),
        httpx.Response(200, json=OPERATION),  # the document lists 202
    ],
)
def test_an_answer_of_something_else_is_unexpected(answer: httpx.Response) -> None:
    with pytest.raises(Unexpected, match="is the server Waypost") as unexpected:
        create(Server(answer).client)

    assert unexpected.value.status_code == answer.status_code


def test_a_token_is_sent_by_who_has_one() -> None:
    with AuthenticatedClient(URL, "wp_x") as known, Client(URL) as stranger:
        assert known.get_httpx_client().headers["Authorization"] == "Bearer wp_x"
        assert "Authorization" not in stranger.get_httpx_client().headers
    assert known.get_httpx_client().is_closed


def test_an_operation_without_a_body_returns_nothing() -> None:
    client = Server(httpx.Response(204)).client

    ended: Callable[..., Any] = session.log_out.sync
    assert ended(client=client) is None


def test_models_are_imported_when_they_are_named() -> None:
    """All of them take long, and the command needs few."""
    program = (
        "import sys\n"
        "from controlplane.client import models\n"
        "from controlplane.client.api import address_spaces\n"
        "print('attrs' in sys.modules, models.Address.__name__, 'attrs' in sys.modules)"
    )

    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert ran.stdout == "False Address True\n"


def test_what_is_no_model_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError):
        _ = models.Nothing  # type: ignore[attr-defined]
