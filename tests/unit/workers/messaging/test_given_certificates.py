"""What may be presented to clients, and the words for what may not."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.x509.oid import ExtendedKeyUsageOID

from tests.support.signing import YEAR, Signed, Signer
from workers.messaging import given_certificates
from workers.messaging.given_certificates import NotUsable, Usable

NOW = datetime(2026, 6, 1, tzinfo=UTC)
HOST = "wp-a.mq.example.org"
SOURCE = "the secret waypost/spaces-tls"


@pytest.fixture(scope="module")
def signer() -> Signer:
    return Signer(begins=NOW)


@pytest.fixture(scope="module")
def wildcard(signer: Signer) -> Signed:
    return signer.sign("*.mq.example.org", now=NOW)


def check(given: Signed, *, authority: str = "", host: str = HOST, now: datetime = NOW) -> Usable:
    return given_certificates.check(given.key_pem, given.chain_pem, authority, SOURCE, host, now)


def refused(given: Signed, **more: Any) -> tuple[str, str]:
    with pytest.raises(NotUsable) as caught:
        check(given, **more)
    return caught.value.reason, str(caught.value)


def test_what_is_good_is_written_again_with_its_chain(signer: Signer, wildcard: Signed) -> None:
    noisy = Signed(f"Bag Attributes\n{wildcard.key_pem}", f"# ours\n{wildcard.chain_pem}")

    found = check(noisy, authority=signer.root_pem)

    assert found.pair.key_pem.startswith("-----BEGIN PRIVATE KEY-----")  # PKCS #8
    assert found.pair.certificate_pem == wildcard.chain_pem
    assert found.authority_pem == signer.root_pem
    assert check(wildcard).authority_pem == ""


def test_what_cannot_be_read_is_told_with_its_place(signer: Signer, wildcard: Signed) -> None:
    key = serialization.load_pem_private_key(wildcard.key_pem.encode(), None)
    locked = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(b"pass"),
    ).decode()

    for given, authority, engine_layout in (
        (Signed(wildcard.key_pem, ""), "", "tls.crt"),
        (Signed(wildcard.key_pem, "-----BEGIN CERTIFICATE-----\nAAAA"), "", "tls.crt"),
        (Signed("", wildcard.chain_pem), "", "tls.key"),
        (Signed(locked, wildcard.chain_pem), "", "tls.key"),
        (Signed(_edwards(), wildcard.chain_pem), "", "tls.key"),
        (wildcard, "nonsense", "ca.crt"),
    ):
        reason, message = refused(given, authority=authority)
        assert reason == "CertificateUnreadable"
        assert f"{engine_layout} in {SOURCE} cannot be read: put one" in message


def _edwards() -> str:
    """Return a key of a type that many clients cannot do."""
    return (
        Ed25519PrivateKey.generate()
        .private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        .decode()
    )


def test_another_key_is_found(signer: Signer, wildcard: Signed) -> None:
    other = signer.sign(HOST, now=NOW)

    reason, message = refused(Signed(other.key_pem, wildcard.chain_pem))

    assert (reason, SOURCE in message) == ("CertificateKeyOther", True)


@pytest.mark.parametrize(
    ("days", "reason", "told"),
    [
        (-1, "CertificateNotYetValid", "is not valid before 2026-05-31 23:55 UTC."),
        (365, "CertificateExpired", "expired on 2027-06-01 00:00 UTC."),
        (400, "CertificateExpired", "expired on 2027-06-01 00:00 UTC."),
    ],
)
def test_its_time_is_told(wildcard: Signed, days: int, reason: str, told: str) -> None:
    found = refused(wildcard, now=NOW + timedelta(days=days))

    assert found == (reason, f"The certificate in {SOURCE} {told}")


@pytest.mark.parametrize(
    ("names", "host", "is_covered"),
    [
        (["*.mq.example.org"], HOST, True),
        (["*.MQ.example.org"], "WP-A.mq.example.org", True),
        (["*.example.org"], HOST, False),  # the star is one label
        (["mq.example.org"], HOST, False),
        (["*.mq.example.org"], "mq.example.org", False),
        (["wp-*.mq.example.org"], HOST, False),  # nor a part of one
        (["*"], "localhost", False),
        (["other", HOST], HOST, True),
        (["192.0.2.7"], "192.0.2.7", True),
        (["192.0.2.8"], "192.0.2.7", False),
        (["2001:db8::1"], "2001:db8:0::1", True),
    ],
)
def test_names_are_compared_as_clients_do(
    signer: Signer, names: list[str], host: str, is_covered: bool
) -> None:
    assert given_certificates.covers(signer.sign(*names, now=NOW).certificate, host) is is_covered


def test_a_subject_alone_names_nothing(signer: Signer) -> None:
    root = x509.load_pem_x509_certificate(signer.root_pem.encode())

    assert not given_certificates.covers(root, "Example Trust root")


def test_a_host_that_is_not_named_is_told(wildcard: Signed) -> None:
    assert refused(wildcard, host="wp-a.other.org") == (
        "CertificateHostMissing",
        f"The certificate in {SOURCE} is not valid for wp-a.other.org.",
    )


def test_another_authority_is_found_before_clients_find_it(wildcard: Signed) -> None:
    reason, message = refused(wildcard, authority=Signer("Other", begins=NOW).root_pem)

    assert (reason, "has no chain to ca.crt" in message) == ("CertificateAuthorityOther", True)


def test_a_root_that_follows_is_the_one_that_signed(signer: Signer, wildcard: Signed) -> None:
    whole = Signed(wildcard.key_pem, wildcard.chain_pem + signer.root_pem)

    assert check(whole, authority=signer.root_pem).pair.certificate_pem == whole.chain_pem
    # of two roots, as while an authority is replaced, one is enough
    both = Signer("Next", begins=NOW - 20 * YEAR).root_pem + signer.root_pem
    assert check(wildcard, authority=both).authority_pem


def test_each_of_the_chain_signs_the_one_before(signer: Signer, wildcard: Signed) -> None:
    leaf, between = _parts(wildcard.chain_pem)
    _, unrelated = _parts(Signer("Other", begins=NOW).sign(HOST, now=NOW).chain_pem)

    for chain, authority in (
        (leaf, signer.root_pem),  # its signer is missing
        (leaf + unrelated, signer.root_pem),
        (leaf + unrelated + between, signer.root_pem),
        (leaf + unrelated, ""),
    ):
        reason, _ = refused(Signed(wildcard.key_pem, chain), authority=authority)
        assert reason == "CertificateAuthorityOther"


def test_the_time_of_all_that_sign_is_looked_at(wildcard: Signed) -> None:
    old = Signer("Old", begins=NOW - timedelta(days=30), root_life=YEAR, life=timedelta(days=40))
    given, later = old.sign(HOST, now=NOW), NOW + timedelta(days=20)

    assert check(given, authority=old.root_pem).authority_pem == old.root_pem
    assert refused(given, now=later) == (
        "CertificateExpired",
        f"The certificate of CN=Old 1 in tls.crt in {SOURCE} expired on 2026-06-11 00:00 UTC.",
    )
    gone = Signer("Gone", begins=NOW - YEAR, root_life=timedelta(days=30), life=2 * YEAR)
    reason, message = refused(gone.sign(HOST, now=NOW), authority=gone.root_pem)
    assert reason == "CertificateExpired"
    assert f"The certificate of CN=Gone root in ca.crt in {SOURCE} expired on" in message


def test_one_for_clients_only_is_refused(signer: Signer) -> None:
    client, server, any_ = (
        ExtendedKeyUsageOID.CLIENT_AUTH,
        ExtendedKeyUsageOID.SERVER_AUTH,
        ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE,
    )

    for bad in ([client], [any_]):  # OpenSSL takes "any" for no purpose
        reason, message = refused(signer.sign(HOST, now=NOW, purposes=bad))
        assert reason == "CertificateUsageOther"
        assert message.startswith(f"The certificate in {SOURCE} is not for servers:")
    assert check(signer.sign(HOST, now=NOW, purposes=[client, server])).authority_pem == ""


def _parts(chain_pem: str) -> list[str]:
    return [
        certificate.public_bytes(serialization.Encoding.PEM).decode()
        for certificate in x509.load_pem_x509_certificates(chain_pem.encode())
    ]


@pytest.mark.parametrize(("days", "warned_days"), [(365, 21), (90, 15), (1, 1 / 6)])
def test_the_warning_comes_before_the_end_and_after_renewal(
    signer: Signer, days: float, warned_days: float
) -> None:
    made = signer.sign(HOST, now=NOW, lifetime=timedelta(days=days)).certificate

    left = made.not_valid_after_utc - given_certificates.warn_at(made)

    assert abs(left - timedelta(days=warned_days)) < timedelta(minutes=2)
