"""The kinds of custom resources. ``definitions``, ``passes`` and ``handlers`` read the registry.

A field of ``spec`` comes from the API's own description (``schema``), by ``definitions``. What this
module adds are the fields that only a resource has.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from controlplane.core.address_types import SETTINGS

GROUP = "messaging.waypost.io"
VERSION = "v1alpha1"
API_VERSION = f"{GROUP}/{VERSION}"


class Deletion(StrEnum):
    """What happens in Waypost when a resource is deleted that created its object there."""

    RETAIN = "Retain"  # the object stays as it is
    DELETE_KEEPING_MESSAGES = "DeleteKeepingMessages"  # of a space: operators keep its volumes
    DELETE = "Delete"  # the object goes, with all its messages


@dataclass(frozen=True)
class Column:
    """A column of ``kubectl get``; ``wide`` ones are shown with ``-o wide`` only."""

    title: str
    path: str
    wide: bool = False


@dataclass(frozen=True)
class ResourceKind:
    """The description of one kind of custom resource.

    * ``subject``: the name of the kind in the codes of the API, such as ``address_space``.
    * ``collection``: the name of such objects in paths of the API.
    * ``schema``: the API's request body that creates such an object (a component of the OpenAPI
      document). Its fields are fields of ``spec``, except those in ``without``.
    * ``name_field``: the field of ``spec`` with the object's name in the API. If it is not
      ``required``, it defaults to the name of the resource.
    * ``required``: fields of ``spec`` that a resource must have, besides those of the API.
    * ``fixed``: fields of ``spec`` that can never change.
    * ``deletions``: the valid deletion policies, the default one first.
    * ``added``: further fields of ``spec``: {name: schema}.
    * ``observed``: further fields of ``status``: {name: schema}.
    """

    kind: str
    plural: str
    short_name: str
    subject: str
    collection: str
    description: str
    schema: str
    name_field: str
    without: frozenset[str]
    required: tuple[str, ...]
    fixed: tuple[str, ...]
    deletions: tuple[Deletion, ...]
    columns: tuple[Column, ...]
    added: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    observed: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


_NAME = {
    "type": "string",
    "minLength": 1,
    "maxLength": 63,
    "description": "The name in Waypost. Default: the name of the resource.",
}
_SPACE = {
    "type": "string",
    "minLength": 1,
    "maxLength": 63,
    "description": "The name, in Waypost, of the space that it belongs to.",
}
# The first one is the default.
_KEEPING = (Deletion.RETAIN, Deletion.DELETE_KEEPING_MESSAGES, Deletion.DELETE)

ADDRESS_SPACE = ResourceKind(
    kind="AddressSpace",
    plural="addressspaces",
    short_name="wpspace",
    subject="address_space",
    collection="address-spaces",
    description="An address space of the tenant to which its namespace belongs.",
    schema="AddressSpaceCreateRequest",
    name_field="name",
    without=frozenset({"name"}),
    required=(),
    fixed=("name", "type", "dead_letters"),
    deletions=_KEEPING,
    columns=(Column("Type", ".spec.type"), Column("Plan", ".spec.plan")),
    added={"name": _NAME},
    observed={
        "endpoints": {
            "type": "array",
            "description": "Where clients connect.",
            "items": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "protocol": {"type": "string"},
                    "host": {"type": "string"},
                    "port": {"type": "integer"},
                    "certificatePem": {
                        "type": "string",
                        "description": "The authorities that clients must trust (PEM).",
                    },
                },
            },
        }
    },
)
ADDRESS = ResourceKind(
    kind="Address",
    plural="addresses",
    short_name="wpaddr",
    subject="address",
    collection="addresses",
    description="A queue, topic or other address of a space.",
    schema="AddressCreateRequest",
    name_field="address",
    without=frozenset(),
    required=("space",),
    fixed=(
        *("space", "address", "type", "plan"),
        *(setting.name for setting in SETTINGS if setting.is_fixed),
    ),
    deletions=(Deletion.RETAIN, Deletion.DELETE),
    columns=(
        Column("Space", ".spec.space"),
        Column("Address", ".spec.address"),
        Column("Type", ".spec.type"),
    ),
    added={"space": _SPACE},
)
MESSAGING_USER = ResourceKind(
    kind="MessagingUser",
    plural="messagingusers",
    short_name="wpuser",
    subject="messaging_user",
    collection="users",
    description="A messaging user of a space. Its generated password is in a Secret.",
    schema="MessagingUserCreateRequest",
    name_field="name",
    without=frozenset({"name", "password"}),
    required=("space",),
    fixed=("space", "name", "secret_name"),
    # No message is lost with a user, and who deletes it expects that its login ends.
    deletions=(Deletion.DELETE, Deletion.RETAIN),
    columns=(Column("Space", ".spec.space"), Column("Secret", ".status.secret.name")),
    added={
        "space": _SPACE,
        "name": _NAME,
        "secret_name": {
            "type": "string",
            "minLength": 1,
            "maxLength": 253,
            "description": "The Secret, in the namespace of the resource, that gets user name, "
            "password, host, port and authorities. Default: the name of the resource.",
        },
    },
    observed={
        "secret": {
            "type": "object",
            "description": "The Secret with the login, and the version whose password is set.",
            "properties": {"name": {"type": "string"}, "version": {"type": "string"}},
        }
    },
)
KINDS = (ADDRESS_SPACE, ADDRESS, MESSAGING_USER)
