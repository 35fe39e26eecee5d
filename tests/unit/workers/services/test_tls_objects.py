"""A connection that its peer ends with a fatal alert leaves no error for another connection."""

import ssl
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from workers.messaging import certificates
from workers.services.tls_objects import CleanObject


@dataclass
class Pair:
    """Both ends of one TLS connection, joined by buffers."""

    server: ssl.SSLObject
    client: ssl.SSLObject
    to_server: ssl.MemoryBIO
    to_client: ssl.MemoryBIO

    def shake_hands(self) -> None:
        for end in (self.client, self.server, self.client, self.server):
            try:
                end.do_handshake()
            except ssl.SSLWantReadError:
                continue


def pair(folder: Path, kind: type[ssl.SSLObject]) -> Pair:
    now = datetime.now(UTC)
    authority = certificates.create_authority("test", now)
    pair_of_server = certificates.issue_server(authority, ["127.0.0.1"], now)
    (folder / "server.pem").write_text(pair_of_server.key_pem + pair_of_server.certificate_pem)
    listening = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    listening.sslobject_class = kind
    listening.load_cert_chain(folder / "server.pem")
    trusting = ssl.create_default_context(cadata=authority.certificate_pem)
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    made = Pair(
        listening.wrap_bio(to_server, to_client, server_side=True),
        trusting.wrap_bio(to_client, to_server, server_hostname="127.0.0.1"),
        to_server,
        to_client,
    )
    made.shake_hands()
    return made


def read_to_the_end(end: ssl.SSLObject) -> None:
    while end.read(1000):
        continue


def end_with_an_alert(ended: Pair) -> None:
    ended.to_client.write_eof()
    with pytest.raises(ssl.SSLError):
        read_to_the_end(ended.client)
    ended.server.unwrap()


def test_a_fatal_alert_is_no_error_of_the_next_connection(tmp_path: Path) -> None:
    other = pair(tmp_path, CleanObject)

    end_with_an_alert(pair(tmp_path, CleanObject))

    with pytest.raises(ssl.SSLWantReadError):
        other.server.read(1000)


def test_pythons_own_object_leaves_it(tmp_path: Path) -> None:
    """When this fails, Python has fixed it, and ``CleanObject`` can go."""
    other = pair(tmp_path, ssl.SSLObject)

    end_with_an_alert(pair(tmp_path, ssl.SSLObject))

    with pytest.raises(ssl.SSLError, match="DECODE_ERROR"):
        other.server.read(1000)
