"""The web server as the embedded installation starts it, on the database of the tests."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from django.db import connection

from controlplane.embedded import ports, servers
from tests.support.waiting import eventually


@dataclass(frozen=True)
class WebServer:
    """A running web server: two processes with two threads each."""

    port: int
    process: subprocess.Popen[bytes]
    log: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@pytest.fixture
def web(
    transactional_db: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[WebServer]:
    """A web server on this test's database; what the test commits is visible to it."""
    # No queue runs here, and the search for one takes seconds.
    monkeypatch.setattr("controlplane.core.enqueue._send", lambda *_: None)
    yield from _serve(tmp_path, f"redis://127.0.0.1:{ports.reserve_port()}/0")


@pytest.fixture
def web_with_queue(
    transactional_db: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[WebServer]:
    """The same, beside a real queue."""
    monkeypatch.setattr("controlplane.core.enqueue._send", lambda *_: None)
    port = ports.reserve_port()
    queue = subprocess.Popen(
        [str(servers.valkey_binary()), "--port", str(port), "--bind", "127.0.0.1", "--save", ""],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
    )
    try:
        yield from _serve(tmp_path, f"redis://127.0.0.1:{port}/0")
    finally:
        queue.terminate()
        queue.wait(timeout=30)


def _serve(tmp_path: Path, queue_url: str) -> Iterator[WebServer]:
    port, log = ports.reserve_port(), tmp_path / "web.log"
    database = connection.settings_dict
    url = "postgresql://{USER}:{PASSWORD}@{HOST}:{PORT}/{NAME}".format(**database)
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "controlplane.settings",
        "WAYPOST_DATABASE_URL": url,
        "WAYPOST_DEBUG": "true",
        "WAYPOST_WEB_THREADS": "2",
        "WAYPOST_EVENT_RECHECK_SECONDS": "1",
        "PGAPPNAME": f"web-{port}",
        "WAYPOST_REDIS_URL": queue_url,
    }
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "controlplane.web", "--port", str(port)],
            env=environment,
            stdout=output,
            stderr=output,
        )
    server = WebServer(port, process, log)
    try:
        eventually(lambda: _answers(server), "the portal answers")
        yield server
    finally:
        process.terminate()
        process.wait(timeout=30)


def _answers(server: WebServer) -> bool:
    try:
        return httpx.get(f"{server.url}/healthz", timeout=5).status_code == 200
    except httpx.HTTPError:
        return False
