"""A custom resource as the cluster has it, and what earlier passes noted in its status. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from pydantic.alias_generators import to_camel, to_snake

from workers.custom_resources.kinds import Deletion, ResourceKind

Json = dict[str, Any]


@dataclass(frozen=True)
class Note:
    """What passes note in the status of a resource, and read there again.

    * ``tenant``: the tenant in which they found or created the object.
    * ``id``: the object's id in Waypost; empty before the first pass that knows it.
    * ``created``: whether the resource created the object.
    * ``password_version``: the version of the Secret whose password the messaging user has.
    """

    tenant: str = ""
    id: str = ""
    created: bool = False
    password_version: str = ""


@dataclass(frozen=True)
class Resource:
    """A custom resource; fields of ``spec`` have the names of the API, such as ``max_bytes``."""

    kind: ResourceKind
    namespace: str
    name: str
    uid: str
    generation: int
    spec: Mapping[str, Any]
    note: Note = Note()
    conditions: Sequence[Json] = ()

    @classmethod
    def of(cls, kind: ResourceKind, body: Mapping[str, Any]) -> Self:
        """Return the resource that ``body`` describes, an object of the cluster's API."""
        metadata, status = body["metadata"], body.get("status") or {}
        note = Note(
            tenant=status.get("tenant") or "",
            id=status.get("id") or "",
            created=bool(status.get("created")),
            password_version=(status.get("secret") or {}).get("version") or "",
        )
        return cls(
            kind,
            metadata["namespace"],
            metadata["name"],
            metadata["uid"],
            metadata.get("generation", 0),
            _spec(body["spec"]),
            note,
            tuple(status.get("conditions") or ()),
        )

    @property
    def object_name(self) -> str:
        """The name of the object in Waypost."""
        return str(self.spec.get(self.kind.name_field) or self.name)

    @property
    def secret_name(self) -> str:
        """The name of the Secret with the login of a messaging user."""
        return str(self.spec.get("secret_name") or self.name)

    @property
    def deletion(self) -> Deletion:
        """What becomes of the object when the resource is deleted."""
        return Deletion(self.spec.get("deletion_policy") or self.kind.deletions[0])

    @property
    def adopts(self) -> bool:
        """Whether the resource may manage an object that it did not create."""
        return bool(self.spec.get("adopt"))


def _spec(given: Mapping[str, Any]) -> Json:
    """Return ``spec`` with the API's names of fields; the keys in ``labels`` stay as they are."""
    found: Json = renamed({name: given[name] for name in given if name != "labels"}, to_snake)
    return found | ({"labels": dict(given["labels"])} if given.get("labels") is not None else {})


def renamed(value: Any, rename: Any) -> Any:
    """Return the JSON ``value`` with all names of fields renamed by ``rename``."""
    if isinstance(value, Mapping):
        return {rename(name): renamed(item, rename) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [renamed(item, rename) for item in value]
    return value


def as_status(fields: Mapping[str, Any]) -> Json:
    """Return ``fields``, which have the names of the API, as Kubernetes writes them."""
    found: Json = renamed(fields, to_camel)
    return found
