"""Which instances a space has and how to reach their management; for metering and status reads.

Reconcile has its own way (``reconcile.reaching``), because it also makes what is missing.
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
    """One instance of a space, by its name there, and how to reach its management."""

    name: str
    kind: Kind
    target: ManagementTarget


def list_targets(
    space: AddressSpace, infra: Infra, identities_dir: Path
) -> Sequence[InstanceTarget]:
    """Return the space's instances that run, or should; none before its certificates exist.

    Raises:
        InfraError: the place where they run does not answer.
    """
    rows = {
        row.name: row
        for row in SpaceSecret.objects.filter(space=space, name__in=[AUTHORITY, CONTROL])
    }
    if len(rows) < 2:
        return []
    client = KeyPair(secrets.unseal(rows[CONTROL].sealed), rows[CONTROL].public)
    namespace = Namespace(
        names.namespace(space.tenant_id, space.id, space.name), space.tenant_id, space.id
    )
    found = []
    for instance in infra.list_instances(namespace):
        layout = infra.place(namespace, instance.kind, instance.name)
        target = identities.target(
            layout.host,
            layout.ports["management"],
            authority_pem=rows[AUTHORITY].public,
            client=client,
            folder=identities_dir,
        )
        found.append(InstanceTarget(instance.name, instance.kind, target))
    return found
