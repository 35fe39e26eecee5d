"""Whether a certificate that was given may be presented to clients, and in whose words not. Pure.

Names are compared as clients do (RFC 9525, section 6.3): alternative names only, ``*`` for the
whole of the leftmost label.
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

from workers.messaging.certificates import KeyPair

_WARNED_BEFORE = timedelta(days=21)
_AUTHORITY_OTHER = "CertificateAuthorityOther"
_Key = RSAPrivateKey | EllipticCurvePrivateKey


class NotUsable(Exception):
    """It may not be presented; ``reason`` is a slug, the text says why not."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True)
class Usable:
    """What to present, written anew: PKCS #8 key, chain with the server's own certificate first.

    ``authority_pem``: whom clients must trust for it; empty where they do already.
    """

    pair: KeyPair
    authority_pem: str


def check(
    key_pem: str, certificate_pem: str, authority_pem: str, source: str, host: str, now: datetime
) -> Usable:
    """Return what to present to clients of ``host``; ``source`` says where the texts are kept.

    Raises:
        NotUsable: ``CertificateUnreadable``, ``CertificateKeyOther``, ``CertificateNotYetValid``,
            ``CertificateExpired``, ``CertificateHostMissing``, ``CertificateUsageOther`` or
            ``CertificateAuthorityOther``.
    """
    chain = _read_all(certificate_pem, f"tls.crt in {source}")
    key = _read_key(key_pem, f"tls.key in {source}")
    authorities = _read_all(authority_pem, f"ca.crt in {source}") if authority_pem.strip() else []
    for judge in (_find_other_key(key), _find_time(now), _find_host(host), _find_usage):
        _refuse(judge(chain[0]), f"The certificate in {source}")
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
        return ipaddress.ip_address(host) in names.get_values_for_type(x509.IPAddress)
    except ValueError:
        patterns = names.get_values_for_type(x509.DNSName)
        return any(_matches(each.lower(), host.lower()) for each in patterns)


def warn_at(certificate: x509.Certificate) -> datetime:
    """Return from when on its end is worth a warning: the last three weeks, or sixth of its life.

    Whichever is shorter: those who renew by themselves have done so by then.
    """
    begins, ends = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    return ends - min(_WARNED_BEFORE, (ends - begins) / 6)


_Judge = Callable[[x509.Certificate], tuple[str, str] | None]


def _find_other_key(key: _Key) -> _Judge:
    def judge(certificate: x509.Certificate) -> tuple[str, str] | None:
        if key.public_key() == certificate.public_key():
            return None
        told = "is not that of its key: tls.key belongs to what tls.crt begins with."
        return "CertificateKeyOther", told

    return judge


def _find_time(now: datetime) -> _Judge:
    def judge(certificate: x509.Certificate) -> tuple[str, str] | None:
        begins, ends = certificate.not_valid_before_utc, certificate.not_valid_after_utc
        if now < begins:
            told = f"is good from {begins:%Y-%m-%d %H:%M} UTC on only."
            return "CertificateNotYetValid", told
        if now >= ends:
            return "CertificateExpired", f"ran out on {ends:%Y-%m-%d %H:%M} UTC."
        return None

    return judge


def _find_host(host: str) -> _Judge:
    def judge(certificate: x509.Certificate) -> tuple[str, str] | None:
        if covers(certificate, host):
            return None
        return "CertificateHostMissing", f"is not for {host}."

    return judge


def _find_usage(certificate: x509.Certificate) -> tuple[str, str] | None:
    """As clients do (RFC 5280, section 4.2.1.12): no extension means every purpose."""
    try:
        purposes = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    except x509.ExtensionNotFound:
        return None
    if ExtendedKeyUsageOID.SERVER_AUTH in purposes:
        return None
    return "CertificateUsageOther", "is not for servers: have serverAuth in its extended key usage."


def _matches(pattern: str, host: str) -> bool:
    first, _, rest = pattern.partition(".")
    return pattern == host or (first == "*" and rest != "" and host.partition(".")[2] == rest)


def _check_signers(chain: Sequence[x509.Certificate], source: str, now: datetime) -> None:
    """Check that each certificate of tls.crt signs the one before it (RFC 5246, 7.4.2), and now."""
    for certificate, by in pairwise(chain):
        if not _is_signed(certificate, by):
            told = f"is not signed by the one that follows it in tls.crt, {_subject(by)}."
            _refuse((_AUTHORITY_OTHER, told), f"That of {_subject(certificate)} in {source}")
        _refuse(_find_time(now)(by), f"The certificate of {_subject(by)} in tls.crt in {source}")


def _check_authorities(
    last: x509.Certificate, authorities: Sequence[x509.Certificate], source: str, now: datetime
) -> None:
    """Check that one of ca.crt signed the last of tls.crt, or is it, and is good now."""
    signers = [each for each in authorities if each == last or _is_signed(last, each)]
    if not signers:
        told = "is not signed by its ca.crt, nor is one that follows it in tls.crt."
        _refuse((_AUTHORITY_OTHER, told), f"The certificate in {source}")
    if all(_find_time(now)(each) for each in signers):
        where = f"The certificate of {_subject(signers[0])} in ca.crt in {source}"
        _refuse(_find_time(now)(signers[0]), where)


def _refuse(problem: tuple[str, str] | None, what: str) -> None:
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
    """Return a key of the types that every client and engine can do."""
    wanted = "one RSA or EC private key without a passphrase"
    try:
        found = serialization.load_pem_private_key(pem.encode(), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise _unreadable(where, wanted) from error
    if not isinstance(found, _Key):
        raise _unreadable(where, wanted)
    return found


def _unreadable(where: str, wanted: str) -> NotUsable:
    return NotUsable("CertificateUnreadable", f"{where} cannot be read: put {wanted} there as PEM.")


def _write_key(key: _Key) -> str:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    ).decode()


def _write(certificates: Sequence[x509.Certificate]) -> str:
    return "".join(each.public_bytes(serialization.Encoding.PEM).decode() for each in certificates)
