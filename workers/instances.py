"""Name the secrets of a space, and find the management listeners of its brokers and routers.

Reconcile passes, metering, operations on messages and the closing of connections use ``Locator``.
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
    """The names of a space's secrets, as stored in ``SpaceSecret.name``.

    The members are the fixed names. ``SecretName.server`` makes the name for each instance.
    """

    AUTHORITY = "authority"  # the space's certificate authority; signs all but AUTH_CLIENT, PUBLIC
    CONTROL_CLIENT = "client/control"  # Waypost authenticates with it at brokers and routers
    ROUTER_CLIENT = "client/router"  # routers authenticate with it at brokers
    # Routers authenticate with it at the auth service. The control authority signs it.
    AUTH_CLIENT = "client/auth"
    # The key pair of public listeners, if the installation provides certificates for them. The
    # space's own authority signs the pair until every instance reads it.
    PUBLIC = "public"
    PUBLIC_TRUST = "public/trust"  # who signed PUBLIC (PEM); empty: clients trust it already

    @staticmethod
    def server(instance: str) -> str:
        """Return the name of the secret that holds an instance's server certificate and key."""
        return f"{_SERVER}{instance}"

    @staticmethod
    def instance_of(secret: str) -> InstanceId | None:
        """Return the instance whose server certificate the secret named ``secret`` holds.

        None for a secret of another purpose.
        """
        if not secret.startswith(_SERVER):
            return None
        return InstanceId.find(secret.removeprefix(_SERVER))


@dataclass(frozen=True)
class Credentials:
    """What Waypost needs to authenticate at the instances of one space, and to verify them.

    ``authority_pem`` is the certificate of the space's authority, which signed the server
    certificates of the instances. ``client`` is Waypost's own key and certificate in this space.
    """

    authority_pem: str
    client: KeyPair

    @classmethod
    def of(cls, rows: Mapping[str, SpaceSecret]) -> Self:
        """Return the credentials in ``rows``, the stored secrets of one space by name.

        Raises:
            KeyError: the authority or the control client is missing: no pass has issued it yet.
            Unavailable: ``secret.key_missing``: the key of the client cannot be decrypted.
        """
        control = rows[SecretName.CONTROL_CLIENT]
        pair = KeyPair(secrets.decrypt(control.sealed), control.public)
        return cls(rows[SecretName.AUTHORITY].public, pair)


@dataclass(frozen=True)
class LocatedInstance:
    """An instance that exists on the platform, and ``target``: where its management listener is."""

    id: InstanceId
    target: ManagementTarget


@dataclass(frozen=True)
class Locator:
    """Finds the management listeners of instances, without a connection to them.

    It writes Waypost's client certificates and keys to ``identities_dir``, because the AMQP library
    reads them from files only.
    """

    infra: Infra
    identities_dir: Path

    def locate(
        self, session: Session, instance: InstanceId, credentials: Credentials
    ) -> ManagementTarget:
        """Return how to reach the management listener of an instance of the session's space.

        The instance need not exist yet. The call writes the certificates to files, and does not
        connect. Idempotent.

        Raises:
            InfraError: what ``Session.layout_of`` raises, such as on a machine without free ports.
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

        Empty if the space has no certificates yet: without them no instance was ever started. Like
        ``locate``, it writes the certificates to files.

        Raises:
            InfraError: the platform (cluster or supervisor) refuses or does not answer.
            Unavailable: ``secret.key_missing``: a stored key cannot be decrypted.
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
