"""What a person mistypes on the command line is answered in words."""

import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from controlplane.cli.app import app
from controlplane.core.errors import Invalid, Unavailable
from controlplane.rest_client import Api


@pytest.mark.parametrize("port", ["-1", "0", "65536"])
def test_up_refuses_a_port_that_cannot_be(port: str, tmp_path: Path) -> None:
    state = tmp_path / "state"

    ended = CliRunner().invoke(app, ["up", "--port", port, "--state", str(state)])

    assert ended.exit_code == 2
    assert not state.exists()


@pytest.mark.parametrize(
    ("url", "token"), [("http://127.0.0.1:b:c", ""), ("http://127.0.0.1:1", "ö")]
)
def test_api_refuses_what_cannot_be_sent(url: str, token: str) -> None:
    with pytest.raises(Invalid, match="malformed"):
        Api(url, token)


class _Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"<html>")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def stranger() -> Iterator[str]:
    """Yield the address of a web server that is not Waypost."""
    with http.server.HTTPServer(("127.0.0.1", 0), _Page) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_api_says_that_a_stranger_answers(stranger: str) -> None:
    with pytest.raises(Unavailable, match="not Waypost"):
        Api(stranger).get("/me")
