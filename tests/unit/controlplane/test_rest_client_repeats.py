"""Which requests the client repeats after a server that gave no answer, and which it must not."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer

import httpx
import pytest

from controlplane import rest_client
from controlplane.core.errors import Unavailable
from controlplane.rest_client import Api, Refused
from tests.support import rest_answers
from tests.support.messaging.routing_rig import free_port
from tests.unit.controlplane.test_rest_client_waiting import Clock

HOST = "127.0.0.1"


@dataclass
class Restarting:
    """A server that reads the first request, and closes the connection without an answer."""

    port: int
    keys: list[str | None] = field(default_factory=list)  # the Idempotency-Key of each request


@pytest.fixture
def restarting() -> Iterator[Restarting]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            made.keys.append(self.headers["Idempotency-Key"])
            if len(made.keys) == 1:
                self.close_connection = True
                return
            self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

    with HTTPServer((HOST, 0), Handler) as server:
        made = Restarting(server.server_port)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield made
        server.shutdown()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(rest_client, "time", made)
    return made


def test_a_post_with_a_key_is_repeated_with_the_same_key(
    restarting: Restarting, clock: Clock
) -> None:
    assert Api(f"http://{HOST}:{restarting.port}").post("/tenants", {}) == {}

    first, second = restarting.keys
    assert first == second
    assert first


def test_a_post_without_a_key_is_sent_once(restarting: Restarting, clock: Clock) -> None:
    with pytest.raises(Unavailable, match="may have carried out") as unanswered:
        Api(f"http://{HOST}:{restarting.port}").post_once("/session", {})

    assert unanswered.value.error_code == "api.unanswered"
    assert restarting.keys == [None]


def test_a_post_that_cannot_have_arrived_is_repeated_without_a_key(clock: Clock) -> None:
    with pytest.raises(Unavailable) as unreachable:
        Api(f"http://{HOST}:{free_port()}", patience_seconds=3).post_once("/session", {})

    assert unreachable.value.error_code == "api.unreachable"
    assert clock.now > 3  # it tried until its patience ended


def test_a_read_timeout_is_no_reason_to_repeat_a_post_without_a_key(
    monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    tried = []

    def silent(_: httpx.Request) -> httpx.Response:
        tried.append(1)
        raise httpx.ReadTimeout("no answer")

    rest_answers.answer_by(monkeypatch, silent)
    api = Api(f"http://{HOST}:9")
    with pytest.raises(Unavailable):
        api.post_once("/session", {})

    assert len(tried) == 1


def test_a_server_that_is_too_slow_is_not_said_to_be_down(
    monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    def slow(_: httpx.Request) -> httpx.Response:
        raise httpx.ReadTimeout("no answer")

    rest_answers.answer_by(monkeypatch, slow)

    with pytest.raises(Unavailable, match="it may be busy") as late:
        Api(f"http://{HOST}:9", patience_seconds=3).get("/me")

    assert late.value.error_code == "api.unreachable"
    assert "is it running" not in late.value.message


@pytest.fixture
def answering(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> Callable[..., Api]:
    """Makes an API client whose requests get these answers, one after the other."""

    def made(*responses: httpx.Response) -> Api:
        left = list(responses)
        rest_answers.answer_by(monkeypatch, lambda _: left.pop(0))
        return Api(f"http://{HOST}:9", patience_seconds=5)

    return made


def test_a_request_over_the_rate_waits_as_the_server_says(
    answering: Callable[..., Api], clock: Clock
) -> None:
    api = answering(
        httpx.Response(429, json={}, headers={"Retry-After": "3"}), httpx.Response(200, json={})
    )

    assert api.post_once("/x", {}) == {}
    assert clock.now == 3


@pytest.mark.parametrize("header", [{}, {"Retry-After": "60"}, {"Retry-After": "Thu, 01 Jan"}])
def test_a_long_wait_for_the_rate_is_refused(
    answering: Callable[..., Api], header: dict[str, str]
) -> None:
    api = answering(httpx.Response(429, json={"code": "rate_limited"}, headers=header))

    with pytest.raises(Refused) as refused:
        api.get("/x")

    assert refused.value.http_status == 429
