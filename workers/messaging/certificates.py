"""Create authorities, issue certificates, and decide when to renew them.

Each space has an authority of its own. It signs the certificates of all connections inside the
space, and by default the one that clients see. The installation has one control authority, for the
connections of routers to the auth service. It signs that service's certificate, and for the routers
of each space one client certificate, whose common name is the space id.

Keys are PEM text here; callers encrypt them (``SpaceSecret``) or keep them in a file of mode 0600.
Only ``control_authority`` reads and writes files. Algorithms: ECDSA P-256 with SHA-256; extensions
as in RFC 5280.
"""

import fcntl
import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Self

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from controlplane.core.files import write_atomically

ORGANIZATION = "waypost"
AUTHORITY_LIFETIME = timedelta(days=3650)  # of the authority of a space
LIFETIME = timedelta(days=30)  # of a certificate that an authority signs
# The clocks of two machines differ; a new certificate must be valid on both at once.
_BACKDATED = timedelta(minutes=5)

_LONGEST_SUBJECT = 64  # RFC 5280, appendix A.1, ub-common-name-length; host names have up to 253


@dataclass(frozen=True)
class KeyPair:
    """A private key (PKCS #8 PEM, unencrypted) and its certificate (PEM).

    In the pair of a provided certificate (``given_certificates``), the other certificates of the
    chain follow the first one.
    """

    key_pem: str
    certificate_pem: str

    @classmethod
    def of(cls, key: ec.EllipticCurvePrivateKey, certificate: x509.Certificate) -> Self:
        """Return the pair of ``key`` and ``certificate``, both encoded as PEM."""
        key_pem = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        public = certificate.public_bytes(serialization.Encoding.PEM)
        return cls(key_pem.decode(), public.decode())

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the key pair in ``text``: PEM of the key, followed by PEM of the certificate.

        Raises:
            ValueError: ``text`` has no certificate.
        """
        mark = "-----BEGIN CERTIFICATE-----"
        key, certificate = text.split(mark, 1)
        return cls(key, mark + certificate)

    @property
    def certificate(self) -> x509.Certificate:
        return x509.load_pem_x509_certificate(self.certificate_pem.encode())

    @property
    def hosts(self) -> list[str]:
        """The certificate's alternative names as text: DNS names and IP addresses; or empty."""
        try:
            found = self.certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName)
        except x509.ExtensionNotFound:
            return []
        return [str(name.value) for name in found.value]

    @property
    def expires_at(self) -> datetime:
        return self.certificate.not_valid_after_utc


def create_authority(common_name: str, now: datetime) -> KeyPair:
    """Return the key and certificate of a new self-signed authority, valid for ten years.

    The authority may sign end-entity certificates only, no further authorities.
    """
    key = ec.generate_private_key(ec.SECP256R1())
    name = _name(common_name)
    certificate = (
        _builder(name, name, key.public_key(), now, AUTHORITY_LIFETIME)
        # path_length=0: it may not sign further authorities.
        # Critical, as RFC 5280 section 4.2.1.9 requires.
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_key_usage(signs_certificates=True), critical=True)
        .sign(key, hashes.SHA256())
    )
    return KeyPair.of(key, certificate)


def issue_server(
    authority: KeyPair, hosts: Sequence[str], now: datetime, lifetime: timedelta = LIFETIME
) -> KeyPair:
    """Return a new key and server certificate, signed by ``authority``, for ``hosts``.

    ``hosts`` (DNS names or IP addresses, at least one) become the alternative names. Some AMQP
    libraries compare the host with the subject only. So the first host that is short enough is also
    the subject's common name.
    """
    # If all hosts are too long, cut the first one: then only the alternative names match a host.
    subject = next((host for host in hosts if len(host) <= _LONGEST_SUBJECT), hosts[0])
    subject = subject[:_LONGEST_SUBJECT]
    return _issue(authority, subject, ExtendedKeyUsageOID.SERVER_AUTH, now, lifetime, hosts)


def issue_client(
    authority: KeyPair, common_name: str, now: datetime, lifetime: timedelta = LIFETIME
) -> KeyPair:
    """Return a new key and client certificate with the subject ``CN=<common_name>, O=waypost``.

    ``authority`` signs it. It has no alternative names.
    """
    return _issue(authority, common_name, ExtendedKeyUsageOID.CLIENT_AUTH, now, lifetime, ())


def distinguished_name(common_name: str) -> str:
    """Return the subject of the client certificate with this common name, as Java prints it.

    A broker's ``certificate-users.properties`` has it in this form.
    """
    return f"CN={common_name}, O={ORGANIZATION}"


def renew_at(certificate: x509.Certificate) -> datetime:
    """Return the time at which to replace a certificate: after two thirds of its lifetime."""
    begins = certificate.not_valid_before_utc
    return begins + (certificate.not_valid_after_utc - begins) * 2 / 3


def is_signed(certificate: x509.Certificate, by: x509.Certificate) -> bool:
    """Return whether ``by`` signed ``certificate`` and is named in it as the issuer.

    Periods of validity are not checked.
    """
    try:
        certificate.verify_directly_issued_by(by)
    except (ValueError, TypeError, InvalidSignature, UnsupportedAlgorithm):
        return False
    return True


def is_good(pair: KeyPair, authority: KeyPair, hosts: Sequence[str], now: datetime) -> bool:
    """Return whether ``authority`` signed ``pair`` for exactly ``hosts``, and no renewal is due.

    ``hosts`` is empty for a client certificate, which has no alternative names.
    """
    certificate = pair.certificate
    if not is_signed(certificate, authority.certificate):
        return False
    return set(pair.hosts) == set(hosts) and now < renew_at(certificate)


def control_authority(folder: Path, now: datetime) -> KeyPair:
    """Return the installation's control authority; create it in ``folder`` on the first call.

    ``authority.pem`` holds its key and certificate, ``ca.pem`` the certificate alone. An existing
    authority is returned even if it has expired: nothing here renews it. Processes may
    call this at the same time: a file lock lets one of them create the files. A folder that already
    holds an authority may be read-only, as a mounted secret is.
    """
    pem_file = folder / "authority.pem"
    if pem_file.exists():
        return KeyPair.parse(pem_file.read_text())
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not pem_file.exists():  # another process may have created it before we got the lock
            made = create_authority("waypost control", now)
            write_atomically(pem_file, made.key_pem + made.certificate_pem, mode=0o600)
            write_atomically(folder / "ca.pem", made.certificate_pem, mode=0o600)
        return KeyPair.parse(pem_file.read_text())


def _issue(
    authority: KeyPair,
    common_name: str,
    usage: x509.ObjectIdentifier,
    now: datetime,
    lifetime: timedelta,
    hosts: Sequence[str],
) -> KeyPair:
    key = ec.generate_private_key(ec.SECP256R1())
    issuer = authority.certificate
    builder = (
        _builder(_name(common_name), issuer.subject, key.public_key(), now, lifetime)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_key_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
    )
    if hosts:
        names = x509.SubjectAlternativeName([_general_name(host) for host in hosts])
        builder = builder.add_extension(names, critical=False)
    signer = serialization.load_pem_private_key(authority.key_pem.encode(), password=None)
    assert isinstance(signer, ec.EllipticCurvePrivateKey)
    return KeyPair.of(key, builder.sign(signer, hashes.SHA256()))


def _builder(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePublicKey,
    now: datetime,
    lifetime: timedelta,
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _BACKDATED)
        .not_valid_after(now + lifetime)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )


def _name(common_name: str) -> x509.Name:
    # Java prints the last attribute first, so this reads "CN=…, O=…" in a broker's users file.
    return x509.Name(
        [
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, ORGANIZATION),
            x509.NameAttribute(NameOID.COMMON_NAME, common_name),
        ]
    )


def _general_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _key_usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
