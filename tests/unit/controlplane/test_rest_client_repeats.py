"""Which requests the client repeats after a server that gave no answer, and which it must not."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer

import httpx
import pytest

from controlplane import rest_client
from controlplane.core.errors import Unavailable
from controlplane.rest_client import Api
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

    def silent(*_: object, **__: object) -> httpx.Response:
        tried.append(1)
        raise httpx.ReadTimeout("no answer")

    api = Api(f"http://{HOST}:9")
    monkeypatch.setattr(api._http, "request", silent)
    with pytest.raises(Unavailable):
        api.post_once("/session", {})

    assert len(tried) == 1
