"""The instances of a space: names of their secrets, and how to reach their management.

Reconcile passes, metering and status reads use the one locator here.
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
    """The names of a space's secrets (``SpaceSecret.name``), except those of its instances."""

    AUTHORITY = "authority"  # signs the other certificates of the space
    CONTROL_CLIENT = "client/control"  # Waypost itself, at brokers and routers
    ROUTER_CLIENT = "client/router"  # routers, at brokers
    AUTH_CLIENT = "client/auth"  # routers, at the auth service
    PUBLIC = "public"  # the certificate of public listeners, if it is not the space's own
    PUBLIC_TRUST = "public/trust"  # the authority that clients must trust

    @staticmethod
    def server(instance: str) -> str:
        """Return the name of an instance's server certificate."""
        return f"{_SERVER}{instance}"

    @staticmethod
    def instance_of(secret: str) -> InstanceId | None:
        """Return the instance that a server certificate is for; None for any other secret."""
        if not secret.startswith(_SERVER):
            return None
        return InstanceId.find(secret.removeprefix(_SERVER))


@dataclass(frozen=True)
class Credentials:
    """How Waypost and the instances of one space trust each other."""

    authority_pem: str
    client: KeyPair

    @classmethod
    def of(cls, rows: Mapping[str, SpaceSecret]) -> Self:
        """Return the credentials in the space's secrets; ``rows`` are these by name.

        Raises:
            KeyError: the space has no certificates yet.
        """
        control = rows[SecretName.CONTROL_CLIENT]
        pair = KeyPair(secrets.decrypt(control.sealed), control.public)
        return cls(rows[SecretName.AUTHORITY].public, pair)


@dataclass(frozen=True)
class LocatedInstance:
    """An instance that exists, and how to reach its management."""

    id: InstanceId
    target: ManagementTarget


@dataclass(frozen=True)
class Locator:
    """Finds management listeners; ``identities_dir`` keeps client certificates as files."""

    infra: Infra
    identities_dir: Path

    def locate(
        self, session: Session, instance: InstanceId, credentials: Credentials
    ) -> ManagementTarget:
        """Return how to reach an instance of the session's space, which need not exist yet.

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
        """Return the space's existing instances, running or not; none before its certificates.

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
