"""Our AMQP clients check whom they talk to, and make what TLS needs once."""

import socket
import ssl
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
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


@pytest.fixture
def port(tmp_path: Path, authorities: dict[str, certificates.KeyPair]) -> Iterator[int]:
    """A server with a certificate of "ours" that hangs up after the handshake."""
    shown = certificates.issue_server(authorities["ours"], [HOST], datetime.now(UTC))
    (tmp_path / "shown").write_text(shown.certificate_pem + shown.key_pem)
    settings = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    settings.load_cert_chain(tmp_path / "shown")

    def serve() -> None:
        while True:
            try:
                accepted, _ = listening.accept()
            except OSError:
                return
            try:
                settings.wrap_socket(accepted, server_side=True).close()
            except OSError:
                accepted.close()

    with socket.create_server((HOST, 0)) as listening:
        threading.Thread(target=serve, daemon=True).start()
        yield listening.getsockname()[1]
        listening.shutdown(socket.SHUT_RDWR)


def failure(port: int, ca_file: Path) -> str:
    """Return why a client that trusts ``ca_file`` has no connection."""
    with pytest.raises(ProtonException) as caught:
        BlockingConnection(
            f"amqps://{HOST}:{port}",
            timeout=10,
            container=tls.Container(),
            ssl_domain=tls.settings(str(ca_file)),
        )
    return str(caught.value)


def test_a_peer_of_another_authority_is_refused(tmp_path: Path, port: int) -> None:
    assert "certificate verify failed" in failure(port, tmp_path / "other")
    assert "certificate verify failed" not in failure(port, tmp_path / "ours")


def test_the_container_is_the_librarys_but_for_its_tls() -> None:
    ours, theirs = vars(tls.Container()), vars(reactor.Container())

    assert ours.pop("ssl") is None
    assert theirs.pop("ssl") is not None
    assert {name: type(value) for name, value in ours.items()} == {
        name: type(value) for name, value in theirs.items()
    }


@pytest.mark.usefixtures("authorities")
def test_settings_are_made_once_for_each_thread(tmp_path: Path) -> None:
    ours, other = str(tmp_path / "ours"), str(tmp_path / "other")

    with ThreadPoolExecutor(1) as thread:
        elsewhere = thread.submit(tls.settings, ours).result()

    assert tls.settings(ours) is tls.settings(ours)
    assert tls.settings(ours) is not tls.settings(other)
    assert tls.settings(ours) is not elsewhere
