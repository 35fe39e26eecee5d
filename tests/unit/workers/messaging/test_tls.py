"""Our AMQP clients verify the server, and make what TLS needs once."""

import queue
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
from proton import ProtonException, reactor
from proton.utils import BlockingConnection

from workers.messaging import certificates, tls

HOST = "127.0.0.1"


@pytest.fixture
def authorities(tmp_path: Path) -> dict[str, certificates.KeyPair]:
    """Two authorities, "ours" and "other", their certificates in files of these names."""
    made = {
        name: certificates.create_authority(name, datetime.now(UTC)) for name in ("ours", "other")
    }
    for name, pair in made.items():
        (tmp_path / name).write_text(pair.certificate_pem)
    return made


@dataclass
class Server:
    """A server with a certificate of "ours" that hangs up; ``greeted``: handshakes that ended."""

    port: int
    greeted: queue.Queue[bool]


@contextmanager
def serving(folder: Path, authority: certificates.KeyPair, host: str) -> Iterator[Server]:
    shown = certificates.issue_server(authority, [host], datetime.now(UTC))
    (folder / "shown").write_text(shown.certificate_pem + shown.key_pem)
    settings = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    settings.load_cert_chain(folder / "shown")
    with socket.create_server((HOST, 0)) as listening:
        server = Server(listening.getsockname()[1], queue.Queue())
        threading.Thread(target=_serve, args=(listening, settings, server), daemon=True).start()
        yield server
        listening.shutdown(socket.SHUT_RDWR)


def _serve(listening: socket.socket, settings: ssl.SSLContext, server: Server) -> None:
    while True:
        try:
            accepted, _ = listening.accept()
        except OSError:
            return
        try:
            greeted = settings.wrap_socket(accepted, server_side=True)
            server.greeted.put(greeted.recv(1) != b"")
            greeted.close()
        except OSError:
            server.greeted.put(False)
            accepted.close()


def is_greeted(server: Server, ca_file: Path) -> bool:
    """Return whether a client that trusts ``ca_file`` comes to speak AMQP with the server."""
    with pytest.raises(ProtonException):
        BlockingConnection(
            f"amqps://{HOST}:{server.port}",
            timeout=10,
            container=tls.Container(),
            ssl_domain=tls.make_settings(str(ca_file)),
        )
    return server.greeted.get(timeout=10)


def test_a_peer_is_checked_by_authority_and_by_name(
    tmp_path: Path, authorities: dict[str, certificates.KeyPair]
) -> None:
    with serving(tmp_path, authorities["ours"], HOST) as server:
        assert not is_greeted(server, tmp_path / "other")
        assert is_greeted(server, tmp_path / "ours")
    with serving(tmp_path, authorities["ours"], "elsewhere.example.org") as another:
        assert not is_greeted(another, tmp_path / "ours")


def test_the_container_is_the_librarys_but_for_its_tls() -> None:
    ours, theirs = vars(tls.Container()), vars(reactor.Container())

    assert ours.pop("ssl") is None
    assert theirs.pop("ssl") is not None
    assert {name: plain(value) for name, value in ours.items() if name != "container_id"} == {
        name: plain(value) for name, value in theirs.items() if name != "container_id"
    }


def plain(value: object) -> object:
    """Return what two of the kind have in common: a plain value itself, the type of another."""
    return value if isinstance(value, bool | int | str | None) else type(value)


@pytest.mark.usefixtures("authorities")
def test_settings_are_kept_for_a_minute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours, other = str(tmp_path / "ours"), str(tmp_path / "other")
    monkeypatch.setattr(time, "monotonic", lambda: 1000.0)
    first = tls.recent_settings(ours, "", "")

    assert tls.recent_settings(ours, "", "") is first
    assert tls.recent_settings(other, "", "") is not first
    monkeypatch.setattr(time, "monotonic", lambda: 1060.0)
    assert tls.recent_settings(ours, "", "") is not first


@pytest.mark.usefixtures("authorities")
def test_few_settings_are_kept(tmp_path: Path) -> None:
    paths = [str(tmp_path / str(number)) for number in range(40)]
    for path in paths:
        Path(path).write_text((tmp_path / "ours").read_text())
        tls.recent_settings(path, "", "")

    assert tls._kept.cache_info().currsize <= 16
