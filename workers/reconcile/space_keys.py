"""The certificates of a space: ``SpaceKeys`` reads them, ``KeyStore`` issues and stores them.

Each is a row of ``SpaceSecret`` with its private key encrypted.
"""

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
    """Reads the certificates of a space, and decrypts their private keys.

    With them the instances of the space and Waypost authenticate each other.

    ``rows``: the space's secrets by name. In a whole pass only the step "credentials" returns
    ``SpaceKeys``, because it issues the last of them. So no step that renders files or opens a
    management connection can come before it.
    """

    rows: Mapping[str, SpaceSecret]

    @classmethod
    def as_read(cls, rows: SpaceRows) -> "SpaceKeys":
        """Return the keys that earlier passes have stored.

        For partial passes and deletions, which issue none. Some are missing if a space is deleted
        before a whole pass has issued them.
        """
        return cls(rows.secrets)

    def pair(self, name: str) -> KeyPair:
        """Return the key pair ``name`` (a ``SecretName``), decrypted.

        Raises:
            KeyError: it was not issued yet.
        """
        row = self.rows[name]
        return KeyPair(secrets.decrypt(row.sealed), row.public)

    @property
    def authority_pem(self) -> str:
        """The certificate of the space's own authority (PEM). KeyError if it was not issued yet."""
        return self.rows[SecretName.AUTHORITY].public

    @property
    def public_pair(self) -> KeyPair | None:
        """The separate key pair of the public listeners; None: they use the server certificates."""
        return self.pair(SecretName.PUBLIC) if SecretName.PUBLIC in self.rows else None

    @property
    def trusted_pem(self) -> str:
        """The authority that clients must trust (PEM); empty if they trust it anyway."""
        # Missing until every instance reads the public pair (``public_certificate.settle``).
        has_trust = SecretName.PUBLIC_TRUST in self.rows
        return self.rows[SecretName.PUBLIC_TRUST if has_trust else SecretName.AUTHORITY].public

    @property
    def is_own(self) -> bool:
        """Whether the space's own authority signed the certificate that clients see."""
        return self.trusted_pem == self.authority_pem


class KeyStore:
    """Issues and stores the keys of a space during one step.

    ``known`` are the secrets that were stored before, by name. The property ``keys`` returns these
    and what the store has added. All methods are idempotent.
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
        """Store ``pair`` under ``name`` with its key encrypted; replace what was stored there."""
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
        """Store ``text``, which is not secret, under ``name``; replace what was stored there."""
        self._known[name], _ = SpaceSecret.objects.update_or_create(
            space=self._space, name=name, defaults={"sealed": "", "public": text}
        )

    def ensure_authority(self) -> None:
        """Ensure that the space has an authority of its own. It is never renewed."""
        if SecretName.AUTHORITY not in self._known:
            subject = f"space {self._space.id}"
            self.keep(SecretName.AUTHORITY, certificates.create_authority(subject, self._now))

    def ensure_server(self, name: str, hosts: Sequence[str]) -> None:
        """Ensure a server certificate for ``hosts`` under ``name``.

        The space's own authority signs it.

        Issue one if it is missing, is for other hosts, has another signer or is due for renewal.
        """
        authority = self.keys.pair(SecretName.AUTHORITY)
        # ``hosts`` change if the platform assigns another address to the endpoint.
        if not self._is_good(name, authority, hosts):
            self.keep(name, certificates.issue_server(authority, hosts, self._now))

    def ensure_client(self, name: str, common_name: str, authority: KeyPair | None = None) -> None:
        """Ensure a client certificate for ``common_name`` under ``name``.

        Issue one if it is missing, has another signer or is due for renewal. ``authority`` signs
        it; None stands for the space's own authority.
        """
        signer = authority or self.keys.pair(SecretName.AUTHORITY)
        if not self._is_good(name, signer, ()):
            self.keep(name, certificates.issue_client(signer, common_name, self._now))

    def _is_good(self, name: str, authority: KeyPair, hosts: Sequence[str]) -> bool:
        return name in self._known and certificates.is_good(
            self.keys.pair(name), authority, hosts, self._now
        )
