"""The names of a space's secrets, and how to reach the management listeners of its instances.

Reconcile passes and metering use the same ``Locator``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Self

from controlplane.core import secrets
from controlplane.core.instance_names import InstanceId, Listener
from tenants.models import AddressSpace, SpaceSecret
from workers.infra import names
from workers.infra.base import Infra, Namespace, Session
from workers.messaging import identities
from workers.messaging.certificates import KeyPair
from workers.messaging.observed import ManagementTarget

_SERVER = "server/"


class SecretName(StrEnum):
    """The names of a space's secrets (``SpaceSecret.name``).

    ``server`` makes the names of its instances' certificates.
    """

    AUTHORITY = "authority"  # the space's own; signs its certificates, with the exceptions below
    CONTROL_CLIENT = "client/control"  # Waypost authenticates with it at brokers and routers
    ROUTER_CLIENT = "client/router"  # routers authenticate with it at brokers
    # Routers authenticate with it at the auth service. The control authority signs it.
    AUTH_CLIENT = "client/auth"
    # The key pair of public listeners, if the installation provides certificates for them. Until
    # every instance reads it, the space's own authority signs it.
    PUBLIC = "public"
    PUBLIC_TRUST = "public/trust"  # who signed PUBLIC (PEM); empty: clients trust it already

    @staticmethod
    def server(instance: str) -> str:
        """Return the name of the secret with an instance's server certificate and key."""
        return f"{_SERVER}{instance}"

    @staticmethod
    def instance_of(secret: str) -> InstanceId | None:
        """Return the instance whose server certificate the secret holds; None for other secrets."""
        if not secret.startswith(_SERVER):
            return None
        return InstanceId.find(secret.removeprefix(_SERVER))


@dataclass(frozen=True)
class Credentials:
    """What Waypost needs to authenticate at the instances of one space, and to verify them.

    ``authority_pem`` signed the instances' certificates; ``client`` is Waypost's own key pair.
    """

    authority_pem: str
    client: KeyPair

    @classmethod
    def of(cls, rows: Mapping[str, SpaceSecret]) -> Self:
        """Return the credentials in ``rows``, the space's secrets by name, decrypted.

        Raises:
            KeyError: the authority or the control client is missing: no pass has issued it yet.
        """
        control = rows[SecretName.CONTROL_CLIENT]
        pair = KeyPair(secrets.decrypt(control.sealed), control.public)
        return cls(rows[SecretName.AUTHORITY].public, pair)


@dataclass(frozen=True)
class LocatedInstance:
    """An instance that the platform reports, and how to reach its management listener."""

    id: InstanceId
    target: ManagementTarget


@dataclass(frozen=True)
class Locator:
    """Finds management listeners.

    It writes client certificates to ``identities_dir``, because the AMQP library reads them from
    files only.
    """

    infra: Infra
    identities_dir: Path

    def locate(
        self, session: Session, instance: InstanceId, credentials: Credentials
    ) -> ManagementTarget:
        """Return how to reach an instance of the session's space; the instance need not exist yet.

        Idempotent. It writes the certificates to files, but does not connect.

        Raises:
            InfraError: the platform (cluster or supervisor) does not answer.
        """
        layout = session.layout_of(instance.kind, instance.name)
        return identities.target(
            layout.host,
            layout.ports[Listener.MANAGEMENT],
            authority_pem=credentials.authority_pem,
            client=credentials.client,
            folder=self.identities_dir,
        )

    def list_existing(self, space: AddressSpace) -> Sequence[LocatedInstance]:
        """Return the instances of the space that exist on the platform, running or not.

        Empty if the space has no certificates yet: without them no instance was ever started.

        Raises:
            InfraError: the platform (cluster or supervisor) does not answer.
        """
        needed = [SecretName.AUTHORITY, SecretName.CONTROL_CLIENT]
        rows = {row.name: row for row in SpaceSecret.objects.filter(space=space, name__in=needed)}
        if len(rows) < len(needed):
            return []
        credentials = Credentials.of(rows)
        name = names.namespace(space.tenant_id, space.id, space.name)
        namespace = Namespace(name, space.tenant_id, space.id)
        with self.infra.open(namespace) as session:
            found = [InstanceId.parse(status.name) for status in session.list_instances()]
            return [LocatedInstance(one, self.locate(session, one, credentials)) for one in found]
