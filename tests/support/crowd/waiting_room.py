"""What half-sent requests cost everybody else, on a real web server."""

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import httpx
from django.test import Client

from controlplane.demo.bench_results import Result
from tenants.models import User
from tests.support import web_server
from tests.support.access.furnished import Furnished
from tests.support.crowd.figures import figure, share
from tests.support.web_server import WebServer

_HALF = (
    b"POST /api/v1/session HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    b'Content-Length: 100\r\n\r\n{"email'
)
_REQUESTS, _ROUNDS = 100, 3
_PATH = "/t/acme-shipping/spaces/"
# One network address may open 250 connections to each of the two processes.
_PER_SOURCE = 200


def measure(_furnished: Furnished, folder: Path) -> Iterator[Result]:
    """Read a page 100 times with 0, 8 and 800 half-sent requests, three times in turn.

    The figure is the best p95 of three with half-sent requests, in multiples of that without.
    """
    browser = Client()
    browser.force_login(User.objects.get(email="admin@acme.example"))
    cookies = {"sessionid": browser.cookies["sessionid"].value}
    with (
        web_server.queue(folder) as port,
        web_server.running(folder, threads=4, queue_port=port) as server,
        httpx.Client(base_url=server.url, cookies=cookies, timeout=30) as web,
    ):
        _p95_ms(web)  # both processes have loaded everything then
        found: dict[int, list[float]] = {0: [], 8: [], 800: []}
        for _ in range(_ROUNDS):
            for number, seconds in found.items():
                with half_sent(server, number):
                    seconds.append(_p95_ms(web))
    alone = min(found.pop(0))
    for number, values in found.items():
        more = f"p95 of {_REQUESTS}: {min(values):.0f} ms, without them {alone:.0f} ms"
        what = f"a page beside {number} half-sent requests"
        yield figure(what, min(values) / alone, "times", more=more, limit=2)


@contextmanager
def half_sent(server: WebServer, number: int) -> Iterator[None]:
    """Keep ``number`` requests open, of whose bodies only the first bytes arrived."""
    with ExitStack() as stack:
        for one in range(number):
            source = (f"127.0.1.{1 + one // _PER_SOURCE}", 0)
            client = socket.create_connection(("127.0.0.1", server.port), source_address=source)
            stack.enter_context(closing(client))
            client.sendall(_HALF)
        yield


def _p95_ms(web: httpx.Client) -> float:
    taken = []
    for _ in range(_REQUESTS):
        began = time.perf_counter()
        answer = web.get(_PATH)
        taken.append(1000 * (time.perf_counter() - began))
        assert answer.status_code == 200, answer.text[:500]
    return share(taken, 0.95)
