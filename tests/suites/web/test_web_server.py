"""Half-sent requests and event streams hold neither a thread nor a database connection."""

import json
import select
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager

import httpx
import pytest
from django.db import connection

from controlplane.core.audit import SYSTEM
from tenants.actions import api_tokens
from tenants.models import AddressSpace, Tenant
from tests.support import domain
from tests.support.waiting import eventually
from tests.support.web_server import METRICS_TOKEN, SOURCE_CONNECTIONS, WebServer

pytestmark = pytest.mark.slow

_HALF_HEADERS = b"GET / HTTP/1.1\r\nHost: 127"
_HALF_BODY = (
    b"POST /api/v1/session HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    b'Content-Length: 100\r\n\r\n{"email'
)


@contextmanager
def half_sent(
    web: WebServer, begin: bytes, number: int, source: str = "127.0.0.1"
) -> Iterator[list[socket.socket]]:
    """Open connections from ``source`` that have each sent only the beginning of a request."""
    with ExitStack() as stack:
        connections = []
        for _ in range(number):
            client = socket.create_connection(("127.0.0.1", web.port), source_address=(source, 0))
            connections.append(stack.enter_context(closing(client)))
            client.sendall(begin)
        yield connections


def database_connections() -> int:
    """Return how many connections other programs have to this test's database."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE datname = current_database() AND application_name LIKE 'web-%%'"
        )
        return int(cursor.fetchone()[0])


def test_half_sent_requests_delay_nobody_and_end(web: WebServer) -> None:
    with ExitStack() as stack:
        # 800 in all, from addresses of which each may open as many.
        for source in ("127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4"):
            silent = stack.enter_context(half_sent(web, _HALF_HEADERS, 100, source))
            stack.enter_context(half_sent(web, _HALF_BODY, 100, source))
        begun = time.monotonic()
        for _ in range(10):
            answer = httpx.get(f"{web.url}/readyz", timeout=5)
            assert answer.status_code == 200
        # Threads that read requests would be busy with the others. Not measured with gunicorn.
        assert time.monotonic() - begun < 5
        assert "server" not in answer.headers
        # Headers that are not complete in time: the server closes the connection.
        silent[0].settimeout(20)
        assert silent[0].recv(100).startswith(b"HTTP/1.1 408")
        assert httpx.get(f"{web.url}/readyz", timeout=5).status_code == 200


def test_one_address_cannot_take_all_connections(web: WebServer) -> None:
    elsewhere = httpx.HTTPTransport(local_address="127.0.0.2")
    over = 40
    with half_sent(web, _HALF_HEADERS, 2 * SOURCE_CONNECTIONS + over) as connections:
        eventually(lambda: _n_refused(connections) >= over, "the rest is refused")
        with httpx.Client(transport=elsewhere, timeout=5) as other:
            assert other.get(f"{web.url}/readyz").status_code == 200
    # The places are free again.
    eventually(lambda: httpx.get(f"{web.url}/healthz").status_code == 200, "places are free")


def _n_refused(connections: list[socket.socket]) -> int:
    """Return how many connections have been answered with 429."""
    poll = select.poll()  # select has a limit of 1,024 descriptors
    for client in connections:
        poll.register(client, select.POLLIN)
    readable = {descriptor for descriptor, _ in poll.poll(0)}
    heads = [c.recv(100, socket.MSG_PEEK) for c in connections if c.fileno() in readable]
    return sum(head.startswith(b"HTTP/1.1 429") for head in heads)


def test_metrics_are_those_of_both_processes(web: WebServer) -> None:
    for _ in range(20):  # new connections, so both processes answer
        httpx.get(f"{web.url}/healthz")

    scraped = set()
    for _ in range(6):
        answer = httpx.get(
            f"{web.url}/metrics", headers={"Authorization": f"Bearer {METRICS_TOKEN}"}
        )
        lines = answer.text.splitlines()
        scraped |= {line for line in lines if 'requests_total{method="GET",route="healthz"' in line}

    (counted,) = scraped  # whichever process answers
    assert float(counted.split()[-1]) >= 20


def test_the_number_of_threads_bounds_the_connections_to_the_database(web: WebServer) -> None:
    with httpx.Client(base_url=web.url, timeout=30) as client:
        with ThreadPoolExecutor(20) as pool:
            answers = list(pool.map(lambda _: client.get("/readyz").status_code, range(100)))
        page = client.get("/login")
    assert answers == [200] * 100
    assert page.status_code == 200
    assert "csrftoken" in page.cookies  # the page's form would not work without
    # Two processes with two threads each.
    assert 1 <= database_connections() <= 4


def test_a_body_over_the_limit_is_refused_before_it_is_sent(web: WebServer) -> None:
    with socket.create_connection(("127.0.0.1", web.port), timeout=10) as client:
        client.sendall(
            b"POST /api/v1/session HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            b"Content-Type: application/json\r\nContent-Length: 99000000\r\n"
            b"X-Request-ID: mine-1\r\n\r\n"
        )
        head, _, body = _read_all(client).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 413")
    assert b"x-request-id: mine-1\r\n" in head + b"\r\n"
    problem = json.loads(body)
    assert problem["code"] == "request.too_large"
    assert (problem["instance"], problem["fields"]) == ("/api/v1/session", {})


def _read_all(client: socket.socket) -> bytes:
    received = b""
    while part := client.recv(65536):
        received += part
    return received


def _watched(tenant: Tenant) -> tuple[AddressSpace, str, str]:
    space = domain.space(tenant, "brokered")
    _token, clear = api_tokens.issue(
        tenant=tenant, name="watch", role="viewer", expires_at=None, by=SYSTEM
    )
    path = f"/api/v1/tenants/{tenant.slug}/address-spaces/{space.name}/events"
    return space, clear, path


def test_an_event_stream_reports_changes_and_ends_with_the_access(web: WebServer) -> None:
    cast = domain.cast()
    space, clear, path = _watched(cast.tenant)
    headers = {"Authorization": f"Bearer {clear}"}
    with (
        httpx.Client(base_url=web.url, headers=headers, timeout=30) as client,
        ExitStack() as streams,
    ):
        lines = None
        for _ in range(40):
            stream = streams.enter_context(client.stream("GET", path))
            assert stream.status_code == 200
            lines = stream.iter_lines()
        assert lines is not None
        _read_until(lines, "event: open")
        # 40 streams, four threads: other requests are answered.
        assert client.get("/readyz").status_code == 200
        assert database_connections() <= 6
        domain.address(space, "orders")
        seen = _read_until(lines, "event: operations")
        assert "event: addresses" in seen
        for token in cast.tenant.api_tokens.all():
            api_tokens.revoke(token=token, by=SYSTEM)
        _read_until(lines, "event: end")
        assert client.get(path).status_code == 401


def test_who_may_open_an_event_stream(web: WebServer) -> None:
    cast = domain.cast()
    _, _, path = _watched(cast.tenant)
    _, foreign = api_tokens.issue(
        tenant=cast.other, name="watch", role="viewer", expires_at=None, by=SYSTEM
    )
    answer = httpx.get(f"{web.url}{path}", headers={"Authorization": f"Bearer {foreign}"})
    assert answer.status_code == 404
    assert httpx.get(f"{web.url}{path}").status_code == 401


def test_the_server_stops_at_once_with_an_open_event_stream(web: WebServer) -> None:
    cast = domain.cast()
    _, clear, path = _watched(cast.tenant)
    headers = {"Authorization": f"Bearer {clear}"}
    with httpx.stream("GET", f"{web.url}{path}", headers=headers, timeout=30) as stream:
        lines = stream.iter_lines()
        _read_until(lines, "event: open")
        web.process.terminate()
        list(lines)  # ends with the stream
    assert web.process.wait(timeout=8) == 0
    eventually(lambda: database_connections() == 0, "its connections are closed")


def _read_until(lines: Iterator[str], wanted: str) -> list[str]:
    seen = []
    for line in lines:
        seen.append(line)
        if line == wanted:
            return seen
    raise AssertionError(f"the stream ended without {wanted}: {seen}")
