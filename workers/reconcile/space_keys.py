"""Key pairs of a space in ``SpaceSecret``: encrypted, renewed when due. Called by the steps."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from controlplane.core import secrets
from tenants.models import AddressSpace, SpaceSecret
from workers.instances import SecretName
from workers.messaging import certificates
from workers.messaging.certificates import KeyPair
from workers.reconcile.space_rows import SpaceRows


@dataclass(frozen=True)
class SpaceKeys:
    """All certificates that the instances of a space and Waypost need to reach each other.

    A whole pass gets them from the step "credentials" only, which issues the last of them. So no
    step that renders files or opens a management connection can come before it.
    """

    rows: Mapping[str, SpaceSecret]

    @classmethod
    def as_read(cls, rows: SpaceRows) -> "SpaceKeys":
        """Return the keys that the last whole pass has stored.

        For partial passes and deletions, which issue none. Some are missing if a space is deleted
        before its first whole pass.
        """
        return cls(rows.secrets)

    def pair(self, name: str) -> KeyPair:
        """Return a key pair, decrypted."""
        row = self.rows[name]
        return KeyPair(secrets.decrypt(row.sealed), row.public)

    @property
    def authority_pem(self) -> str:
        """The certificate of the space's own authority."""
        return self.rows[SecretName.AUTHORITY].public

    @property
    def public_pair(self) -> KeyPair | None:
        """The separate pair of the public listeners; None: they use the server certificates."""
        return self.pair(SecretName.PUBLIC) if SecretName.PUBLIC in self.rows else None

    @property
    def trusted_pem(self) -> str:
        """The authorities that clients must trust (PEM); empty if they do already."""
        has_trust = SecretName.PUBLIC_TRUST in self.rows
        return self.rows[SecretName.PUBLIC_TRUST if has_trust else SecretName.AUTHORITY].public

    @property
    def is_own(self) -> bool:
        """Whether clients see a certificate of the space's own authority."""
        return self.trusted_pem == self.authority_pem


class KeyStore:
    """Issues and stores the keys of a space during one step, and knows what it has stored.

    All methods are idempotent.
    """

    def __init__(self, rows: SpaceRows, known: Mapping[str, SpaceSecret]) -> None:
        self._space: AddressSpace = rows.space
        self._now = rows.now
        self._known = dict(known)

    @property
    def keys(self) -> SpaceKeys:
        """The keys as they are stored now."""
        return SpaceKeys(dict(self._known))

    def keep(self, name: str, pair: KeyPair) -> None:
        """Store ``pair`` encrypted under ``name``."""
        self._known[name], _ = SpaceSecret.objects.update_or_create(
            space=self._space,
            name=name,
            defaults={
                "sealed": secrets.encrypt(pair.key_pem),
                "public": pair.certificate_pem,
                "expires_at": pair.expires_at,
            },
        )

    def keep_public(self, name: str, text: str) -> None:
        """Store ``text``, which is not secret, under ``name``."""
        self._known[name], _ = SpaceSecret.objects.update_or_create(
            space=self._space, name=name, defaults={"sealed": "", "public": text}
        )

    def ensure_authority(self) -> None:
        """Ensure that the space has an authority of its own, which signs its other certificates."""
        if SecretName.AUTHORITY not in self._known:
            subject = f"space {self._space.id}"
            self.keep(SecretName.AUTHORITY, certificates.create_authority(subject, self._now))

    def ensure_server(self, name: str, hosts: Sequence[str]) -> None:
        """Ensure a server certificate for ``hosts``; issue one if it does not fit or is due."""
        authority = self.keys.pair(SecretName.AUTHORITY)
        # ``hosts`` change if the platform assigns another address to the endpoint.
        if not self._is_good(name, authority, hosts):
            self.keep(name, certificates.issue_server(authority, hosts, self._now))

    def ensure_client(self, name: str, common_name: str, authority: KeyPair | None = None) -> None:
        """Ensure a client certificate; issue one if it is missing or due.

        ``authority``: another one than the space's own.
        """
        signer = authority or self.keys.pair(SecretName.AUTHORITY)
        if not self._is_good(name, signer, ()):
            self.keep(name, certificates.issue_client(signer, common_name, self._now))

    def _is_good(self, name: str, authority: KeyPair, hosts: Sequence[str]) -> bool:
        return name in self._known and certificates.is_good(
            self.keys.pair(name), authority, hosts, self._now
        )
