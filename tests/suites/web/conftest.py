"""A web server for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import web_server
from tests.support.web_server import WebServer


@pytest.fixture
def web(
    transactional_db: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[WebServer]:
    """A web server with two threads a process on this test's database."""
    # No queue runs here, and the search for one takes seconds.
    monkeypatch.setattr("controlplane.core.enqueue._send", lambda *_: None)
    with web_server.running(tmp_path, threads=2) as server:
        yield server


@pytest.fixture
def web_with_queue(
    transactional_db: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[WebServer]:
    """The same, beside a real queue."""
    monkeypatch.setattr("controlplane.core.enqueue._send", lambda *_: None)
    with (
        web_server.queue(tmp_path) as port,
        web_server.running(tmp_path, threads=2, queue_port=port) as server,
    ):
        yield server
