"""An authority as those outside a space are: a root, one between, RSA keys, chains to present."""

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import NameOID

YEAR = timedelta(days=365)


@dataclass(frozen=True)
class Signed:
    """A key and its chain, as a secret of type ``kubernetes.io/tls`` holds them."""

    key_pem: str
    chain_pem: str

    @property
    def certificate(self) -> x509.Certificate:
        return x509.load_pem_x509_certificate(self.chain_pem.encode())


class Signer:
    """Signs for any host; the certificate between goes with each chain."""

    def __init__(
        self,
        name: str = "Example Trust",
        *,
        begins: datetime | None = None,
        root_life: timedelta = 10 * YEAR,
        life: timedelta = 10 * YEAR,
    ) -> None:
        self._root_key, self._key = _key(), _key()
        self._root_name, self._name = _named(f"{name} root"), _named(f"{name} 1")
        now = begins or datetime.now(UTC)
        by = (self._root_name, self._root_key)
        self._root = _sign(*by, *by, now, lifetime=root_life)
        self._between = _sign(self._name, self._key, *by, now, lifetime=life)

    @property
    def root_pem(self) -> str:
        """The authority that clients must trust."""
        return _pem(self._root)

    def sign(
        self,
        *hosts: str,
        now: datetime | None = None,
        lifetime: timedelta = YEAR,
        purposes: Sequence[x509.ObjectIdentifier] = (),
    ) -> Signed:
        """Return a new key with its certificate for ``hosts``; the first is the subject."""
        key = _key()
        begins = now or datetime.now(UTC)
        certificate = _sign(
            _named(hosts[0]),
            key,
            self._name,
            self._key,
            begins,
            lifetime=lifetime,
            hosts=hosts,
            purposes=purposes,
        )
        written = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.TraditionalOpenSSL,
            serialization.NoEncryption(),
        )
        return Signed(written.decode(), _pem(certificate) + _pem(self._between))


def _key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, 2048)


def _named(common_name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _sign(
    subject: x509.Name,
    key: rsa.RSAPrivateKey,
    issuer: x509.Name,
    issuer_key: rsa.RSAPrivateKey,
    begins: datetime,
    *,
    lifetime: timedelta = 10 * YEAR,
    hosts: Sequence[str] = (),
    purposes: Sequence[x509.ObjectIdentifier] = (),
) -> x509.Certificate:
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(begins - timedelta(minutes=5))
        .not_valid_after(begins + lifetime)
        .add_extension(x509.BasicConstraints(ca=not hosts, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()),
            critical=False,
        )
        .add_extension(_usage(signs=not hosts), critical=True)
    )
    if hosts:
        names = x509.SubjectAlternativeName([_general(host) for host in hosts])
        builder = builder.add_extension(names, critical=False)
    if purposes:
        builder = builder.add_extension(x509.ExtendedKeyUsage(purposes), critical=False)
    return builder.sign(issuer_key, hashes.SHA256())


def _usage(*, signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs,
        key_encipherment=not signs,
        key_cert_sign=signs,
        crl_sign=signs,
        content_commitment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _general(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _pem(certificate: x509.Certificate) -> str:
    return certificate.public_bytes(serialization.Encoding.PEM).decode()
