"""What is desired against what a router shows: pure comparison, field by field.

A router answers 201 to things it has not understood, so nothing counts as done until it was read
back and compared here.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from workers.messaging.routers.desired import MateAt
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
Held = Mapping[str, Mapping[str, Row]]  # kind -> name -> row


@dataclass(frozen=True)
class Difference:
    """What to delete (kind, name), then what to create, each in a safe order."""

    delete: Sequence[tuple[str, str]] = field(default_factory=tuple)
    create: Sequence[Entity] = field(default_factory=tuple)

    @property
    def is_empty(self) -> bool:
        return not self.delete and not self.create


def compare(wanted: Sequence[Entity], held: Held, *, complete: Collection[str]) -> Difference:
    """Return what makes ``held`` into ``wanted``.

    Entities of ours that nobody wants are deleted if their kind is in ``complete``: only of those
    kinds is everything held and everything wanted known here.
    """
    by_name = {(each.kind, each.name): each for each in wanted}
    changed = [
        each for each in wanted if each.name in held.get(each.kind, {}) and not is_as(each, held)
    ]
    missing = [each for each in wanted if each.name not in held.get(each.kind, {})]
    strays = [
        (kind, name)
        for kind, rows in held.items()
        for name in rows
        if kind in complete and name.startswith(PREFIX) and (kind, name) not in by_name
    ]
    delete = [*strays, *((each.kind, each.name) for each in changed)]
    create = [*changed, *missing]
    return Difference(
        sorted(delete, key=lambda each: -ORDER.index(each[0])),
        sorted(create, key=lambda each: ORDER.index(each.kind)),
    )


def is_as(wanted: Entity, held: Held) -> bool:
    """Return whether the router shows the entity with everything we asked for."""
    row = held.get(wanted.kind, {}).get(wanted.name)
    return row is not None and all(
        _same(value, row.get(name)) for name, value in wanted.attributes.items()
    )


def find_problem(wanted: Entity, held: Held) -> str:
    """Return why the entity does not work yet, in the router's words, or an empty string."""
    row = held.get(wanted.kind, {}).get(wanted.name)
    if row is None:
        return f"the router does not show {wanted.kind} {wanted.name}"
    for name, value in wanted.attributes.items():
        if not _same(value, row.get(name)):
            return f"{wanted.name}: {name} is {row.get(name)!r} instead of {value!r}"
    if wanted.kind == AUTO_LINK and not wanted.is_hold and row.get("operStatus") != "active":
        return f"{wanted.name}: {row.get('lastError') or row.get('operStatus')}"
    if wanted.kind == LINK_ROUTE and row.get("operStatus") != "active":
        return f"{wanted.name}: {row.get('operStatus')}"
    return ""


def find_unjoined(mates: Sequence[MateAt], held: Held) -> Mapping[str, str]:
    """Return the mates that the router dials and has no connection to, with its own words.

    ``SUCCESS`` alone is one: a mate that refuses the certificate shows as ``CONNECTING`` with a
    friendly message (reference on Dispatch with Artemis, section on mutual TLS).
    """
    found: dict[str, str] = {}
    for mate in mates:
        row = held.get(CONNECTOR, {}).get(mesh_connector_name(mate.name), {})
        status = row.get("connectionStatus")
        if status != "SUCCESS":
            words = row.get("connectionMsg") or status or "it has no connector"
            found[mate.name] = f"{mate.host}:{mate.port}: {words}"
    return found


def _same(wanted: Any, shown: Any) -> bool:
    """Compare as the router prints: numbers as text, absent as None or empty."""
    if isinstance(wanted, bool) or isinstance(shown, bool):
        return wanted is shown
    return str(wanted if wanted is not None else "") == str(shown if shown is not None else "")
