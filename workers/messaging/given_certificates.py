"""Check the certificate that an installation provides for public listeners. Pure.

A provided certificate comes as the texts ``tls.key``, ``tls.crt`` and ``ca.crt`` (see
docs/operate/certificates.md). Names are compared as clients do (RFC 9525, section 6.3): only
alternative names count, and ``*`` stands for the whole leftmost label.
"""

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.x509.oid import ExtendedKeyUsageOID

from controlplane.core.reasons import Reason
from workers.messaging.certificates import KeyPair, is_signed

_WARNED_BEFORE = timedelta(days=21)  # the end of a certificate that Waypost cannot renew
_Key = RSAPrivateKey | EllipticCurvePrivateKey


class NotUsable(Exception):
    """The provided certificate must not be presented to clients; the text explains ``reason``."""

    def __init__(self, reason: Reason, message: str) -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True)
class Usable:
    """A provided certificate that passed ``check``, encoded again as PEM.

    * ``pair``: the key as PKCS #8, and the chain with the server's own certificate first.
    * ``authority_pem``: the authorities that clients must trust. It is empty without a ``ca.crt``.
    """

    pair: KeyPair
    authority_pem: str


def check(
    key_pem: str, certificate_pem: str, authority_pem: str, source: str, host: str, now: datetime
) -> Usable:
    """Check a provided certificate at the time ``now``; return what to present to clients.

    * ``key_pem``, ``certificate_pem``: the contents of ``tls.key`` and ``tls.crt``.
    * ``authority_pem``: the contents of ``ca.crt``; blank if there is none.
    * ``source``: where the texts come from, for error messages.
    * ``host``: the name or IP address that clients connect to.

    Raises:
        NotUsable: the first problem found. Its reason is ``CertificateUnreadable``,
            ``CertificateKeyOther``, ``CertificateNotYetValid``, ``CertificateExpired``,
            ``CertificateHostMissing``, ``CertificateUsageOther`` or ``CertificateAuthorityOther``.
    """
    found = _Found(source, now)
    chain = found.read_all(certificate_pem, "tls.crt")
    key = found.read_key(key_pem, "tls.key")
    authorities = found.read_all(authority_pem, "ca.crt") if authority_pem.strip() else []
    # The server's own certificate first, because only the first problem is reported.
    found.check_own(chain[0], key, host)
    found.check_signers(chain)
    if authorities:
        found.check_authorities(chain[-1], authorities)
    key_text = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    ).decode()
    return Usable(KeyPair(key_text, _write(chain)), _write(authorities))


def covers(certificate: x509.Certificate, host: str) -> bool:
    """Return whether an alternative name of ``certificate`` matches ``host``.

    ``host`` is a DNS name or an IP address. The common name of the subject does not count.
    """
    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return False
    try:
        # An IP address counts only as an IPAddress entry, never as a DNS name (RFC 9525).
        return ipaddress.ip_address(host) in names.get_values_for_type(x509.IPAddress)
    except ValueError:
        _, _, parent = host.lower().partition(".")
        # ``*`` stands for exactly one label in front of others, so a host of one label needs an
        # equal name.
        accepted = {host.lower(), f"*.{parent}"} if parent else {host.lower()}
        patterns = names.get_values_for_type(x509.DNSName)
        return any(pattern.lower() in accepted for pattern in patterns)


def warn_at(certificate: x509.Certificate) -> datetime:
    """Return the time from which the status of a space warns that the certificate expires.

    The warning begins before the expiry by three weeks or by one sixth of the lifetime, whichever
    is shorter. An automatic renewal usually comes earlier, so a warning means that it failed.
    """
    begins, ends = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    return ends - min(_WARNED_BEFORE, (ends - begins) / 6)


class _Found:
    """Reads and checks the texts of one provided certificate at the time ``now``.

    Each method raises ``NotUsable`` at the first problem, with a text that names ``source``.
    """

    def __init__(self, source: str, now: datetime) -> None:
        self._source = source
        self._now = now

    def read_all(self, pem: str, file: str) -> Sequence[x509.Certificate]:
        try:
            return x509.load_pem_x509_certificates(pem.encode())
        except ValueError as error:
            raise self._unreadable(file, "one or more certificates") from error

    def read_key(self, pem: str, file: str) -> _Key:
        """Return the private key in ``pem``, which must not need a passphrase.

        Other keys than RSA and EC are refused with ``NotUsable``, because some clients, routers or
        brokers do not support them. ``file`` is named in the error.
        """
        wanted = "one RSA or EC private key without a passphrase"
        try:
            found = serialization.load_pem_private_key(pem.encode(), password=None)
        except (ValueError, TypeError, UnsupportedAlgorithm) as error:
            raise self._unreadable(file, wanted) from error
        if not isinstance(found, _Key):
            raise self._unreadable(file, wanted)
        return found

    def check_own(self, certificate: x509.Certificate, key: _Key, host: str) -> None:
        """Check the server's own certificate: its key, validity period, host name and purpose."""
        what = f"The certificate in {self._source}"
        if key.public_key() != certificate.public_key():
            problem = "does not match tls.key: the first certificate in tls.crt must belong to it."
            raise NotUsable(Reason.CERTIFICATE_KEY_OTHER, f"{what} {problem}")
        self._check_time(certificate, what)
        if not covers(certificate, host):
            raise NotUsable(Reason.CERTIFICATE_HOST_MISSING, f"{what} is not valid for {host}.")
        if not _is_for_servers(certificate):
            problem = "is not for servers: its extended key usage must contain serverAuth."
            raise NotUsable(Reason.CERTIFICATE_USAGE_OTHER, f"{what} {problem}")

    def check_signers(self, chain: Sequence[x509.Certificate]) -> None:
        """Check that each certificate after the first one signed the one before it.

        Each of the others must also be in its validity period (``check_own`` checks the first).
        ``chain`` are the certificates of tls.crt. Source of the order: RFC 5246, section 7.4.2.
        """
        for certificate, by in pairwise(chain):
            signer = by.subject.rfc4514_string()
            if not is_signed(certificate, by):
                raise NotUsable(
                    Reason.CERTIFICATE_AUTHORITY_OTHER,
                    f"The certificate of {certificate.subject.rfc4514_string()} in {self._source} "
                    f"is not signed by the next certificate in tls.crt, {signer}.",
                )
            self._check_time(by, f"The certificate of {signer} in tls.crt in {self._source}")

    def check_authorities(
        self, last: x509.Certificate, authorities: Sequence[x509.Certificate]
    ) -> None:
        """Check that a certificate of ca.crt signed ``last``, or equals it, and is valid now.

        ``last`` is the last certificate of tls.crt, ``authorities`` are all certificates of ca.crt.
        """
        signers = [
            authority
            for authority in authorities
            if authority == last or is_signed(last, authority)
        ]
        if not signers:
            problem = "has no chain to ca.crt: no certificate there signed the last one in tls.crt."
            raise NotUsable(
                Reason.CERTIFICATE_AUTHORITY_OTHER, f"The certificate in {self._source} {problem}"
            )
        # One valid signer is enough: ca.crt may hold the old and the new authority during a change.
        if not any(
            signer.not_valid_before_utc <= self._now < signer.not_valid_after_utc
            for signer in signers
        ):
            first = signers[0].subject.rfc4514_string()
            what = f"The certificate of {first} in ca.crt in {self._source}"
            self._check_time(signers[0], what)

    def _check_time(self, certificate: x509.Certificate, what: str) -> None:
        begins, ends = certificate.not_valid_before_utc, certificate.not_valid_after_utc
        if self._now < begins:
            problem = f"is not valid before {begins:%Y-%m-%d %H:%M} UTC."
            raise NotUsable(Reason.CERTIFICATE_NOT_YET_VALID, f"{what} {problem}")
        if self._now >= ends:
            raise NotUsable(
                Reason.CERTIFICATE_EXPIRED, f"{what} expired on {ends:%Y-%m-%d %H:%M} UTC."
            )

    def _unreadable(self, file: str, wanted: str) -> NotUsable:
        where = f"{file} in {self._source}"
        problem = f"{where} cannot be read: put {wanted} there as PEM."
        return NotUsable(Reason.CERTIFICATE_UNREADABLE, problem)


def _is_for_servers(certificate: x509.Certificate) -> bool:
    """Return whether the extended key usage of ``certificate`` permits that a server presents it.

    Without the extension "extended key usage", every purpose is allowed (RFC 5280, section
    4.2.1.12).
    """
    try:
        purposes = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    except x509.ExtensionNotFound:
        return True
    return ExtendedKeyUsageOID.SERVER_AUTH in purposes


def _write(certificates: Sequence[x509.Certificate]) -> str:
    return "".join(
        certificate.public_bytes(serialization.Encoding.PEM).decode()
        for certificate in certificates
    )
