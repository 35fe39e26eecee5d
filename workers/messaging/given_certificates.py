"""Check a certificate that comes from outside Waypost and is for clients. Pure.

Names are compared as clients do (RFC 9525, section 6.3): only alternative names count, and ``*``
stands for the whole leftmost label.
"""

import ipaddress
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.x509.oid import ExtendedKeyUsageOID

from controlplane.core.reasons import Reason
from workers.messaging.certificates import KeyPair

_WARNED_BEFORE = timedelta(days=21)
_Key = RSAPrivateKey | EllipticCurvePrivateKey


class NotUsable(Exception):
    """The certificate may not be presented; the text explains ``reason``."""

    def __init__(self, reason: Reason, message: str) -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True)
class Usable:
    """What to present, re-encoded: PKCS #8 key, chain with the server's own certificate first.

    ``authority_pem`` holds the authorities that clients must trust. It is empty if the provided
    files hold no ``ca.crt``.
    """

    pair: KeyPair
    authority_pem: str


def check(
    key_pem: str, certificate_pem: str, authority_pem: str, source: str, host: str, now: datetime
) -> Usable:
    """Return what to present to clients of ``host``; ``source`` names the origin for messages.

    Raises:
        NotUsable: ``CertificateUnreadable``, ``CertificateKeyOther``, ``CertificateNotYetValid``,
            ``CertificateExpired``, ``CertificateHostMissing``, ``CertificateUsageOther`` or
            ``CertificateAuthorityOther``.
    """
    chain = _read_all(certificate_pem, f"tls.crt in {source}")
    key = _read_key(key_pem, f"tls.key in {source}")
    authorities = _read_all(authority_pem, f"ca.crt in {source}") if authority_pem.strip() else []
    # Cheap checks of the server's own certificate first; the first problem is the one reported.
    for find_problem in (_find_other_key(key), _find_time(now), _find_host(host), _find_usage):
        _refuse(find_problem(chain[0]), f"The certificate in {source}")
    _check_signers(chain, source, now)
    if authorities:
        _check_authorities(chain[-1], authorities, source, now)
    return Usable(KeyPair(_write_key(key), _write(chain)), _write(authorities))


def covers(certificate: x509.Certificate, host: str) -> bool:
    """Return whether clients that connect to ``host`` (a name or an address) accept its names."""
    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return False
    try:
        # An IP address counts only as an IPAddress entry, never as a DNS name (RFC 9525).
        return ipaddress.ip_address(host) in names.get_values_for_type(x509.IPAddress)
    except ValueError:
        patterns = names.get_values_for_type(x509.DNSName)
        return any(_matches(pattern.lower(), host.lower()) for pattern in patterns)


def warn_at(certificate: x509.Certificate) -> datetime:
    """Return when to begin to warn of its expiry.

    The warning period is three weeks or one sixth of the lifetime, whichever is shorter.
    Automatic renewal has happened by then.
    """
    begins, ends = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    return ends - min(_WARNED_BEFORE, (ends - begins) / 6)


# A check of one certificate: returns the slug and the text of a problem, None if there is none.
_Check = Callable[[x509.Certificate], tuple[Reason, str] | None]


def _find_other_key(key: _Key) -> _Check:
    def find_problem(certificate: x509.Certificate) -> tuple[Reason, str] | None:
        if key.public_key() == certificate.public_key():
            return None
        problem = "does not match tls.key: the first certificate in tls.crt must belong to it."
        return Reason.CERTIFICATE_KEY_OTHER, problem

    return find_problem


def _find_time(now: datetime) -> _Check:
    def find_problem(certificate: x509.Certificate) -> tuple[Reason, str] | None:
        begins, ends = certificate.not_valid_before_utc, certificate.not_valid_after_utc
        if now < begins:
            return (
                Reason.CERTIFICATE_NOT_YET_VALID,
                f"is not valid before {begins:%Y-%m-%d %H:%M} UTC.",
            )
        if now >= ends:
            return Reason.CERTIFICATE_EXPIRED, f"expired on {ends:%Y-%m-%d %H:%M} UTC."
        return None

    return find_problem


def _find_host(host: str) -> _Check:
    def find_problem(certificate: x509.Certificate) -> tuple[Reason, str] | None:
        if covers(certificate, host):
            return None
        return Reason.CERTIFICATE_HOST_MISSING, f"is not valid for {host}."

    return find_problem


def _find_usage(certificate: x509.Certificate) -> tuple[Reason, str] | None:
    """Check the purpose as clients do: without the extension, every purpose is allowed.

    Source: RFC 5280, section 4.2.1.12.
    """
    try:
        purposes = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    except x509.ExtensionNotFound:
        return None
    if ExtendedKeyUsageOID.SERVER_AUTH in purposes:
        return None
    problem = "is not for servers: its extended key usage must contain serverAuth."
    return Reason.CERTIFICATE_USAGE_OTHER, problem


def _matches(pattern: str, host: str) -> bool:
    first, _, rest = pattern.partition(".")
    return pattern == host or (first == "*" and rest != "" and host.partition(".")[2] == rest)


def _check_signers(chain: Sequence[x509.Certificate], source: str, now: datetime) -> None:
    """Check that each certificate of tls.crt signs the one before it and is valid now.

    Source of the order: RFC 5246, section 7.4.2.
    """
    for certificate, by in pairwise(chain):
        if not _is_signed(certificate, by):
            problem = f"is not signed by the next certificate in tls.crt, {_subject(by)}."
            subject = _subject(certificate)
            _refuse(
                (Reason.CERTIFICATE_AUTHORITY_OTHER, problem),
                f"The certificate of {subject} in {source}",
            )
        _refuse(_find_time(now)(by), f"The certificate of {_subject(by)} in tls.crt in {source}")


def _check_authorities(
    last: x509.Certificate, authorities: Sequence[x509.Certificate], source: str, now: datetime
) -> None:
    """Check that a valid certificate of ca.crt signed the last one of tls.crt, or equals it."""
    signers = [
        authority for authority in authorities if authority == last or _is_signed(last, authority)
    ]
    if not signers:
        problem = "has no chain to ca.crt: no certificate there signed the last one in tls.crt."
        _refuse((Reason.CERTIFICATE_AUTHORITY_OTHER, problem), f"The certificate in {source}")
    # One valid signer is enough: ca.crt may hold the old and the new authority during a change.
    if all(_find_time(now)(authority) for authority in signers):
        where = f"The certificate of {_subject(signers[0])} in ca.crt in {source}"
        _refuse(_find_time(now)(signers[0]), where)


def _refuse(problem: tuple[Reason, str] | None, what: str) -> None:
    if problem:
        raise NotUsable(problem[0], f"{what} {problem[1]}")


def _subject(certificate: x509.Certificate) -> str:
    return certificate.subject.rfc4514_string()


def _is_signed(certificate: x509.Certificate, by: x509.Certificate) -> bool:
    try:
        certificate.verify_directly_issued_by(by)
    except (ValueError, TypeError, InvalidSignature, UnsupportedAlgorithm):
        return False
    return True


def _read_all(pem: str, where: str) -> Sequence[x509.Certificate]:
    try:
        return x509.load_pem_x509_certificates(pem.encode())
    except ValueError as error:
        raise _unreadable(where, "one or more certificates") from error


def _read_key(pem: str, where: str) -> _Key:
    """Return the key; only RSA and EC keys, which every client, router and broker supports."""
    wanted = "one RSA or EC private key without a passphrase"
    try:
        found = serialization.load_pem_private_key(pem.encode(), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise _unreadable(where, wanted) from error
    if not isinstance(found, _Key):
        raise _unreadable(where, wanted)
    return found


def _unreadable(where: str, wanted: str) -> NotUsable:
    return NotUsable(
        Reason.CERTIFICATE_UNREADABLE, f"{where} cannot be read: put {wanted} there as PEM."
    )


def _write_key(key: _Key) -> str:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    ).decode()


def _write(certificates: Sequence[x509.Certificate]) -> str:
    return "".join(
        certificate.public_bytes(serialization.Encoding.PEM).decode()
        for certificate in certificates
    )
