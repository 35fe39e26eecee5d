"""A token goes only to a server that is who it says it is."""

import ssl
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from controlplane.core.errors import Unavailable
from controlplane.rest_client import Api, Refused
from workers.messaging import certificates

HOST = "127.0.0.1"


@dataclass
class Listener:
    """A server that refuses everybody, and the tokens that it heard."""

    port: int
    heard: list[str | None] = field(default_factory=list)


@pytest.fixture
def listener(tmp_path: Path) -> Iterator[Listener]:
    """Its certificate is of an authority of its own, in the file "authority"."""
    authority = certificates.create_authority("stranger", datetime.now(UTC))
    shown = certificates.issue_server(authority, [HOST], datetime.now(UTC))
    (tmp_path / "authority").write_text(authority.certificate_pem)
    (tmp_path / "shown").write_text(shown.certificate_pem + shown.key_pem)
    settings = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    settings.load_cert_chain(tmp_path / "shown")

    class Refusing(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            made.heard.append(self.headers["Authorization"])
            self.send_error(403)

    with HTTPServer((HOST, 0), Refusing) as server:
        made = Listener(server.server_port)
        server.socket = settings.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield made
        server.shutdown()


@pytest.mark.parametrize("scheme", ["https", "HTTPS"])
def test_a_server_of_an_unknown_authority_is_told_no_token(listener: Listener, scheme: str) -> None:
    api = Api(f"{scheme}://{HOST}:{listener.port}", "secret")

    with pytest.raises(Unavailable, match="SSL_CERT_FILE") as refused:
        api.get("/me")

    assert refused.value.error_code == "api.certificate"
    assert listener.heard == []


def test_a_server_of_a_named_authority_is_told_it(
    listener: Listener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority"))

    with pytest.raises(Refused):
        Api(f"https://{HOST}:{listener.port}", "secret").get("/me")

    assert listener.heard == ["Bearer secret"]


def test_a_file_without_authorities_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty").write_text("")
    for name in ("none", "empty"):
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / name))

        with pytest.raises(
            Unavailable, match=rf"SSL_CERT_FILE names, .*{name}, holds no"
        ) as refused:
            Api(f"https://{HOST}:1", "secret")

        assert refused.value.error_code == "api.certificate"


def test_what_speaks_tls_is_not_called_silent(listener: Listener) -> None:
    api = Api(f"http://{HOST}:{listener.port}", "secret", patience_seconds=0)

    with pytest.raises(
        Unavailable, match=r"closed the connection .* is it Waypost, and does it speak http://"
    ):
        api.get("/me")

    assert listener.heard == []
