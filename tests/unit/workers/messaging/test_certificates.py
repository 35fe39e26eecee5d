"""Authorities and certificates: who is trusted for what, and when they are renewed."""

import ssl
import stat
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from workers.messaging import certificates

NOW = datetime(2026, 6, 1, tzinfo=UTC)
HOSTS = ["127.0.0.1", "localhost", "orders.example.org"]


@pytest.fixture(scope="module")
def authority() -> certificates.KeyPair:
    return certificates.create_authority("space spc_1", NOW)


def test_server_certificate_names_all_hosts_and_is_for_servers(
    authority: certificates.KeyPair,
) -> None:
    made = certificates.issue_server(authority, HOSTS, NOW).certificate

    names = made.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert sorted(str(name.value) for name in names) == sorted(HOSTS)
    usage = made.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    assert list(usage) == [ExtendedKeyUsageOID.SERVER_AUTH]
    made.verify_directly_issued_by(authority.certificate)


@pytest.mark.parametrize(
    ("hosts", "subject"),
    [
        (HOSTS, HOSTS[0]),
        (["a" * 60 + ".svc", "b" * 63 + ".svc"], "a" * 60 + ".svc"),
        (["b" * 63 + ".svc", "localhost"], "localhost"),
        (["b" * 63 + ".svc"], "b" * 63 + "."),
    ],
)
def test_a_host_may_be_longer_than_a_subject(
    authority: certificates.KeyPair, hosts: list[str], subject: str
) -> None:
    """As those of a space with the longest name; a common name has 64 characters at most."""
    made = certificates.issue_server(authority, hosts, NOW)

    (name,) = made.certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    assert name.value == subject
    assert certificates.is_good(made, authority, hosts, NOW)


def test_client_certificate_says_who_it_is(authority: certificates.KeyPair) -> None:
    made = certificates.issue_client(authority, "spc_7", NOW).certificate

    (name,) = made.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    assert name.value == "spc_7"
    assert certificates.distinguished_name("spc_7") == "CN=spc_7, O=waypost"
    constraints = made.extensions.get_extension_for_class(x509.BasicConstraints).value
    assert not constraints.ca


@pytest.mark.parametrize(
    ("days", "hosts", "is_good"),
    [(0, HOSTS, True), (19, HOSTS, True), (21, HOSTS, False), (0, ["other"], False)],
)
def test_a_certificate_is_good_until_two_thirds_of_its_life(
    authority: certificates.KeyPair, days: int, hosts: list[str], is_good: bool
) -> None:
    made = certificates.issue_server(authority, HOSTS, NOW)

    at = NOW + timedelta(days=days)
    assert certificates.is_good(made, authority, hosts, at) is is_good


def test_another_authority_is_not_trusted(authority: certificates.KeyPair) -> None:
    other = certificates.create_authority("space spc_1", NOW)
    made = certificates.issue_client(other, "waypost-control", NOW)

    assert not certificates.is_good(made, authority, (), NOW)


def test_control_authority_is_made_once_and_private(tmp_path: Path) -> None:
    folder = tmp_path / "control-ca"

    first = certificates.control_authority(folder, NOW)
    second = certificates.control_authority(folder, NOW + timedelta(days=1))

    assert first == second
    assert stat.S_IMODE((folder / "authority.pem").stat().st_mode) == 0o600
    assert (folder / "ca.pem").read_text() == first.certificate_pem


def test_python_accepts_the_pair(tmp_path: Path) -> None:
    now = datetime.now(UTC)
    authority = certificates.create_authority("space spc_1", now)
    made = certificates.issue_server(authority, HOSTS, now)
    path = tmp_path / "pair.pem"
    path.write_text(made.key_pem + made.certificate_pem)
    trusting = ssl.create_default_context(cadata=authority.certificate_pem)
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(path)
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = trusting.wrap_bio(to_client, to_server, server_hostname=HOSTS[-1])
    server = serving.wrap_bio(to_server, to_client, server_side=True)

    for side in (client, server, client):  # hello, hello and certificate, check of the certificate
        with suppress(ssl.SSLWantReadError):
            side.do_handshake()

    found = client.getpeercert()
    assert found is not None
    assert found["subjectAltName"] == (
        ("IP Address", "127.0.0.1"),
        ("DNS", "localhost"),
        ("DNS", "orders.example.org"),
    )


def test_a_control_authority_that_is_there_is_only_read(tmp_path: Path) -> None:
    folder = tmp_path / "mounted"
    folder.mkdir()
    given = certificates.create_authority("given", NOW)
    (folder / "authority.pem").write_text(given.key_pem + given.certificate_pem)

    found = certificates.control_authority(folder, NOW)

    assert found == given
    assert [path.name for path in folder.iterdir()] == ["authority.pem"]
