"""The port for Secrets in namespaces of tenants; ``workers.custom_resources`` uses it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class StoredSecret:
    """A Secret as the cluster has it: its text values, and the uids of its owners."""

    values: Mapping[str, str]
    version: str
    owners: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Owner:
    """The resource that owns a Secret: when it is deleted, the cluster deletes the Secret."""

    api_version: str
    kind: str
    name: str
    uid: str


class SecretStore(Protocol):
    """The Secrets of the watched namespaces. Every method may raise ``InfraError``."""

    def find(self, namespace: str, name: str) -> StoredSecret | None:
        """Return the Secret, or None if there is none."""
        ...

    def write(self, namespace: str, name: str, values: Mapping[str, str], owner: Owner) -> str:
        """Create the Secret or give it exactly these values; return its version. Idempotent."""
        ...
