"""Compare the desired entities with those that a router shows, field by field. Pure.

A router answers 201 also to attributes that it does not understand. So a change counts as done only
after it was read back and compared here.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from workers.messaging.routers.desired import PeerAt
from workers.messaging.routers.entities import (
    AUTO_LINK,
    CONNECTOR,
    LINK_ROUTE,
    ORDER,
    PREFIX,
    Entity,
    mesh_connector_name,
)

Row = Mapping[str, Any]
Existing = Mapping[str, Mapping[str, Row]]  # kind -> name -> row


@dataclass(frozen=True)
class Difference:
    """Lists what to delete, as (kind, name), and what to create after that.

    Both are in the order in which to do it: an entity is created after those that it refers to, and
    deleted before them.
    """

    delete: Sequence[tuple[str, str]] = field(default_factory=tuple)
    create: Sequence[Entity] = field(default_factory=tuple)

    @property
    def is_empty(self) -> bool:
        return not self.delete and not self.create


def compare(
    wanted: Sequence[Entity], existing: Existing, *, complete: Collection[str]
) -> Difference:
    """Return the changes that turn ``existing`` into ``wanted``.

    An entity with other attributes is deleted and created again. ``complete``: the kinds of which
    our other entities in ``existing`` are deleted. Put a kind there only if ``wanted`` lists every
    one of them that may stay. Entities whose names do not begin with ``PREFIX`` always stay.
    """
    wanted_names = {(entity.kind, entity.name) for entity in wanted}
    changed = [
        entity
        for entity in wanted
        if entity.name in existing.get(entity.kind, {}) and not is_as(entity, existing)
    ]
    missing = [entity for entity in wanted if entity.name not in existing.get(entity.kind, {})]
    orphans = [
        (kind, name)
        for kind, rows in existing.items()
        for name in rows
        if kind in complete and name.startswith(PREFIX) and (kind, name) not in wanted_names
    ]
    # A router cannot update these entities, so a changed one is deleted and created again.
    delete = [*orphans, *((entity.kind, entity.name) for entity in changed)]
    create = [*changed, *missing]
    return Difference(
        sorted(delete, key=lambda kind_and_name: -ORDER.index(kind_and_name[0])),
        sorted(create, key=lambda entity: ORDER.index(entity.kind)),
    )


def is_as(wanted: Entity, existing: Existing) -> bool:
    """Return whether ``existing`` has the entity ``wanted``, with all its attributes."""
    row = existing.get(wanted.kind, {}).get(wanted.name)
    return row is not None and all(
        _same(value, row.get(name)) for name, value in wanted.attributes.items()
    )


def find_problem(wanted: Entity, existing: Existing) -> str:
    """Return why the entity ``wanted`` does not work yet, or an empty string.

    An entity works if ``existing`` has it with all wanted attributes. An autoLink (except a hold)
    or a link route must also be active. If it is not, the returned text contains the router's.
    """
    row = existing.get(wanted.kind, {}).get(wanted.name)
    if row is None:
        return f"the router does not show {wanted.kind} {wanted.name}"
    for name, value in wanted.attributes.items():
        if not _same(value, row.get(name)):
            return f"{wanted.name}: {name} is {row.get(name)!r} instead of {value!r}"
    # A hold never attaches, so its state says nothing.
    if wanted.kind == AUTO_LINK and not wanted.is_hold and row.get("operStatus") != "active":
        return f"{wanted.name}: {row.get('lastError') or row.get('operStatus')}"
    # Link routes have no ``lastError``.
    if wanted.kind == LINK_ROUTE and row.get("operStatus") != "active":
        return f"{wanted.name}: {row.get('operStatus')}"
    return ""


def find_problems(wanted: Sequence[Entity], existing: Existing) -> Mapping[str, str]:
    """Return the addresses that do not work yet: address -> the first problem of its entities.

    The key "" stands for the connectors, which belong to no address. Whether a connector is
    connected is not checked (``find_unjoined`` does it for peers).
    """
    found: dict[str, str] = {}
    for entity in wanted:
        problem = find_problem(entity, existing)
        if problem:
            found.setdefault(entity.address, problem)
    return found


def find_unjoined(peers: Sequence[PeerAt], existing: Existing) -> Mapping[str, str]:
    """Return the peer routers without a working connection: name -> ``<host>:<port>: <why>``.

    Only the status ``SUCCESS`` means connected. A peer that refuses the certificate shows as
    ``CONNECTING``, with a message that hides the problem. For the moment of each attempt to
    connect, Qpid Dispatch shows ``SUCCESS`` too (``try_open_lh`` in its ``server.c``), so one
    reading may overlook an unjoined peer.
    """
    found: dict[str, str] = {}
    for peer in peers:
        row = existing.get(CONNECTOR, {}).get(mesh_connector_name(peer.name), {})
        status = row.get("connectionStatus")
        if status != "SUCCESS":
            message = row.get("connectionMsg") or status or "it has no connector"
            found[peer.name] = f"{peer.host}:{peer.port}: {message}"
    return found


def _same(wanted: Any, shown: Any) -> bool:
    """Return whether two values are equal as text; None equals an empty text.

    The router shows some numbers as text, and missing values as None or empty. True and False equal
    only themselves.
    """
    if isinstance(wanted, bool) or isinstance(shown, bool):
        return wanted is shown
    return str(wanted if wanted is not None else "") == str(shown if shown is not None else "")
