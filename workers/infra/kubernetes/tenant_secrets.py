"""Secrets in namespaces of tenants, for the controller of custom resources.

They hold the tenant's API token, which is only read, and the logins of messaging users.
"""

import base64
from collections.abc import Mapping

from kubernetes import client as k8s

from workers.infra.kubernetes import resources
from workers.infra.kubernetes.api import Api
from workers.infra.secret_port import Owner, StoredSecret

# Not those of ``labels``: these secrets are in namespaces of tenants.
_LABELS = {"app.kubernetes.io/managed-by": "waypost-resources"}


class TenantSecrets:
    """Reads and writes Secrets in namespaces of tenants.

    Raises:
        InfraError: any method: the cluster refuses or does not answer.
    """

    def __init__(self, api: Api) -> None:
        self._api = api

    def find(self, namespace: str, name: str) -> StoredSecret | None:
        """Return the Secret, or None if there is none. Values that are no text are left out."""
        found = self._api.find(resources.SECRET, namespace, name)
        if found is None:
            return None
        return StoredSecret(
            values=_texts(found.data),
            version=found.metadata.resource_version,
            owners=frozenset(owner.uid for owner in found.metadata.owner_references),
        )

    def write(self, namespace: str, name: str, values: Mapping[str, str], owner: Owner) -> str:
        """Create the Secret or give it exactly these values; return its version. Idempotent.

        The cluster deletes it when ``owner`` is deleted.
        """
        reference = k8s.V1OwnerReference(
            api_version=owner.api_version,
            kind=owner.kind,
            name=owner.name,
            uid=owner.uid,
            controller=True,
        )
        wanted = k8s.V1Secret(
            metadata=k8s.V1ObjectMeta(
                name=name, namespace=namespace, labels=_LABELS, owner_references=[reference]
            ),
            type="Opaque",
            data={key: base64.b64encode(text.encode()).decode() for key, text in values.items()},
        )
        return self._api.apply(wanted).metadata.resource_version


def _texts(data: Mapping[str, str]) -> dict[str, str]:
    found = {}
    for key, encoded in data.items():
        try:
            found[key] = base64.b64decode(encoded).decode()
        # Neither base 64 nor UTF-8: ``binascii.Error`` and ``UnicodeDecodeError`` are both
        # ValueErrors.
        except ValueError:
            continue
    return found
