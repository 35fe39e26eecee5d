"""The web server as the embedded installation starts it, on the database of the tests."""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
from django.db import connection

from controlplane.embedded import ports, servers
from tests.support.waiting import eventually

METRICS_TOKEN = "let-me-in"
# Open connections of one network address to one of the two processes.
SOURCE_CONNECTIONS = 250


@dataclass(frozen=True)
class WebServer:
    """A running web server: two processes with some threads each. It writes to ``log``."""

    port: int
    process: subprocess.Popen[bytes]
    log: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def running(
    folder: Path,
    *,
    threads: int,
    queue_port: int | None = None,
    port: int | None = None,
    settings: Mapping[str, str] | None = None,
) -> Iterator[WebServer]:
    """Yield a web server on this test's database; what the test commits is visible to it.

    ``queue_port``: the port of its queue; None: nothing answers there. ``port``: its own one, which
    is claimed already. ``settings``: further variables of its environment.
    """
    with ports.claiming() as claims:
        port, queue_port = port or claims.take_any(), queue_port or claims.take_any()
        with _running(folder, threads, queue_port, port, settings or {}) as server:
            yield server


@contextmanager
def _running(
    folder: Path, threads: int, queue_port: int, port: int, settings: Mapping[str, str]
) -> Iterator[WebServer]:
    log = folder / "web.log"
    database = connection.settings_dict
    url = "postgresql://{USER}:{PASSWORD}@{HOST}:{PORT}/{NAME}".format(**database)
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "controlplane.settings",
        "WAYPOST_DATABASE_URL": url,
        "WAYPOST_DEBUG": "true",
        "WAYPOST_PUBLIC_URL": f"http://127.0.0.1:{port}",
        "WAYPOST_WEB_THREADS": str(threads),
        "WAYPOST_EVENT_RECHECK_SECONDS": "1",
        "WAYPOST_METRICS_TOKEN": METRICS_TOKEN,
        "WAYPOST_WEB_SOURCE_CONNECTIONS": str(SOURCE_CONNECTIONS),
        "PGAPPNAME": f"web-{port}",
        "WAYPOST_REDIS_URL": f"redis://127.0.0.1:{queue_port}/0",
        **settings,
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
        process.wait(timeout=120)


@contextmanager
def queue(folder: Path) -> Iterator[int]:
    """Yield the port of a real queue, which is also the cache of the web server."""
    with ports.claiming() as claims:
        port = claims.take_any()
        valkey = [str(servers.valkey_binary()), "--bind", "127.0.0.1", "--port", str(port)]
        process = subprocess.Popen(
            [*valkey, "--save", ""],
            cwd=folder,
            stdout=subprocess.DEVNULL,
        )
        try:
            yield port
        finally:
            process.terminate()
            process.wait(timeout=120)


def _answers(server: WebServer) -> bool:
    try:
        return httpx.get(f"{server.url}/healthz", timeout=5).status_code == 200
    except httpx.HTTPError:
        return False
