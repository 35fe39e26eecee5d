"""The development router shows replaced certificates to new connections, whatever their keys."""

import ssl
from datetime import UTC, datetime
from pathlib import Path

from cryptography import x509

from tests.support.signing import Signed, Signer
from workers.messaging import certificates
from workers.services.devrouter.tls import Profile

HOST = "orders.example.org"


def shown(server: ssl.SSLContext) -> x509.Certificate:
    """Return what a client is shown, by a handshake in memory."""
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.check_hostname, client.verify_mode = False, ssl.CERT_NONE
    one, other = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = [client.wrap_bio(one, other), server.wrap_bio(other, one, server_side=True)]
    for _ in range(4):
        for end in ends:
            try:
                end.do_handshake()
            except ssl.SSLWantReadError:
                pass
    found = ends[0].getpeercert(binary_form=True)
    assert found is not None
    return x509.load_der_x509_certificate(found)


def test_a_certificate_with_another_type_of_key_takes_the_place_of_the_former(
    tmp_path: Path,
) -> None:
    def write(pair: Signed) -> x509.Certificate:
        (tmp_path / "public.key").write_text(pair.key_pem)
        (tmp_path / "public.pem").write_text(pair.chain_pem)
        return pair.certificate

    now = datetime.now(UTC)
    authority = certificates.create_authority("space", now)
    elliptic = [certificates.issue_server(authority, [HOST], now) for _ in range(2)]
    of_space = [Signed(pair.key_pem, pair.certificate_pem) for pair in elliptic]
    given = Signer().sign(HOST)
    first = write(of_space[0])
    files = (str(tmp_path / "public.pem"), str(tmp_path / "public.key"))
    profile = Profile("wp-public", *files, ca_file="")
    listening = profile.server(needs_client=False)
    assert shown(listening) == first

    for pair in (given, of_space[1]):
        wanted = write(pair)
        profile.reload(listening)
        assert shown(listening) == wanted
