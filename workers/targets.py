"""The instances of a space and how to reach their management. For metering and status reads.

A reconcile pass uses ``reconcile.management_targets`` instead: it has loaded the secrets already,
and knows the wanted instances, which may not exist yet.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from controlplane.core import secrets
from tenants.models import AddressSpace, SpaceSecret
from workers.infra import names
from workers.infra.base import Infra, Kind, Namespace
from workers.messaging import identities
from workers.messaging.certificates import KeyPair
from workers.messaging.observed import ManagementTarget

AUTHORITY, CONTROL = "authority", "client/control"


@dataclass(frozen=True)
class InstanceTarget:
    """One instance of a space: its name in the namespace, and how to reach its management."""

    name: str
    kind: Kind
    target: ManagementTarget


def list_targets(
    space: AddressSpace, infra: Infra, identities_dir: Path
) -> Sequence[InstanceTarget]:
    """Return the space's existing instances, running or not; none before its certificates exist.

    Raises:
        InfraError: the platform (cluster or supervisor) does not answer.
    """
    rows = {
        row.name: row
        for row in SpaceSecret.objects.filter(space=space, name__in=[AUTHORITY, CONTROL])
    }
    if len(rows) < 2:
        return []
    client = KeyPair(secrets.decrypt(rows[CONTROL].sealed), rows[CONTROL].public)
    namespace = Namespace(
        names.namespace(space.tenant_id, space.id, space.name), space.tenant_id, space.id
    )
    found = []
    with infra.open(namespace) as session:
        for instance in session.list_instances():
            layout = session.layout_of(instance.kind, instance.name)
            target = identities.target(
                layout.host,
                layout.ports["management"],
                authority_pem=rows[AUTHORITY].public,
                client=client,
                folder=identities_dir,
            )
            found.append(InstanceTarget(instance.name, instance.kind, target))
    return found
