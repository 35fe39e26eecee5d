"""Live objects as plain documents: tests look at fields that Waypost does not read."""

from collections.abc import Mapping, Sequence
from typing import Any

from workers.infra.kubernetes import public_certificates, resources
from workers.infra.kubernetes.api import Api
from workers.infra.kubernetes.endpoints import gateway, route
from workers.infra.kubernetes.reported import Reported
from workers.infra.kubernetes.resources import Resource

Document = dict[str, Any]
# Every kind that Waypost applies, ordered so that no object refers to a later one.
APPLIED: Sequence[Resource[Reported]] = (
    *resources.BY_MODEL.values(),
    gateway.TLS_ROUTE,
    route.ROUTE,
    public_certificates.CERTIFICATE,
)


def find(
    api: Api, resource: Resource[Reported], namespace: str | None, name: str
) -> Document | None:
    """Return the object, or None if it does not exist."""
    found = api.find(resource, namespace, name)
    return None if found is None else dict(found.document)


def listed(
    api: Api, resource: Resource[Reported], namespace: str | None, selector: Mapping[str, str]
) -> list[Document]:
    """Return the objects with these labels."""
    return [dict(found.document) for found in api.list(resource, namespace, selector)]


def name_of(document: Document) -> str:
    """Return the object's name."""
    return str(document["metadata"]["name"])
