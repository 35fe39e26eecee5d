"""Which addresses are legal, what a space offers, which settings fit. Pure: no row, no setting.

Called by ``tenants.actions.addresses`` before it locks anything.
"""

import re
from collections.abc import Collection
from dataclasses import asdict, dataclass
from enum import StrEnum

from controlplane.core.errors import Invalid
from tenants.models import AddressType, SpaceType

# ``$``: management and internal addresses of routers and brokers; ``wp-``: our own entities;
# ``activemq.``: the broker's; ``_``: _local, _topo and _edge of routers; ``!!``: kept free for us;
# a leading ``/`` or ``.``: routers read ``/a`` as ``a``.
RESERVED_PREFIXES = ("$", "wp-", "wp.", "activemq.", "_", "!!", "/", ".")
# Routers read what looks like a URL as one and drop its scheme.
_URL = ":/"
_LEGAL = re.compile(r"[^\s#*+$:][^\s#*+]{0,254}")

_STORED = (AddressType.QUEUE, AddressType.TOPIC, AddressType.SUBSCRIPTION)
OFFERED = {
    SpaceType.STANDARD: (*_STORED, AddressType.ANYCAST, AddressType.MULTICAST),
    SpaceType.BROKERED: _STORED,
}
_SMALLEST = {
    "message_ttl_ms": 1,
    "max_delivery_attempts": 1,
    "redelivery_delay_ms": 0,
    "max_bytes": 1,
}
_LARGEST = {
    "message_ttl_ms": 10 * 365 * 24 * 3600 * 1000,
    "max_delivery_attempts": 1_000_000,
    "redelivery_delay_ms": 10 * 365 * 24 * 3600 * 1000,
    "max_bytes": 2**53,
}


class Capability(StrEnum):
    """What a router engine may lack; a dialect says what it has."""

    WAYPOINTS = "waypoints"
    LINK_ROUTES = "link_routes"


ALL_CAPABILITIES = frozenset(Capability)
_NEEDS = {
    AddressType.QUEUE: Capability.WAYPOINTS,
    AddressType.TOPIC: Capability.LINK_ROUTES,
    AddressType.DEADLETTER: Capability.WAYPOINTS,
}


@dataclass(frozen=True)
class AddressSettings:
    """What a tenant may set on a queue or topic; None means the plan's value, zero is a value.

    ``dead_letter`` names a queue of the same space; ``topic`` belongs to a subscription alone and
    stays for its life.
    """

    message_ttl_ms: int | None = None
    max_delivery_attempts: int | None = None
    redelivery_delay_ms: int | None = None
    max_bytes: int | None = None
    dead_letter: str = ""
    topic: str = ""

    def columns(self) -> dict[str, int | str | None]:
        """Return what is stored in columns of the same names: everything but the topic."""
        return {name: value for name, value in asdict(self).items() if name != "topic"}


def check_name(space_type: str, address: str) -> None:
    """Return if the address's name is legal in such a space.

    Raises:
        Invalid: it is not; says why.
    """
    reason = _wrong_with(address)
    if not reason and space_type == SpaceType.STANDARD and "," in address:
        reason = "It must not contain ',', where routers end a name that somebody may use."
    if reason:
        raise Invalid(
            f"{address[:80]!r} is not a legal address. {reason}",
            code="address.invalid",
            address=[reason],
        )


def name_at_routers(address: str) -> str:
    """Return the address as routers compare it: they end a level at ``.`` and at ``/`` alike.

    Source: Qpid Dispatch 1.19, parse_tree.c (``token separators``).
    """
    return address.replace(".", "/")


def check_type(
    space_type: str, address_type: str, capabilities: Collection[Capability] = ALL_CAPABILITIES
) -> None:
    """Return if such a space offers addresses of this type on routers that can do this much.

    Raises:
        Invalid: it does not; says what is offered.
    """
    offered = [each.value for each in OFFERED[SpaceType(space_type)]]
    if space_type == SpaceType.STANDARD:
        offered = [each for each in offered if not _lacking(each, capabilities)]
    if address_type in offered:
        return
    why = ""
    if address_type == AddressType.DEADLETTER:
        why = " Dead letters go to a queue for now: name it as dead_letter of another queue."
    elif lacking := _lacking(address_type, capabilities):
        why = f" The routers of this installation have no {lacking.replace('_', ' ')}."
    raise Invalid(
        f"A {space_type} space offers: {', '.join(offered)}; not {address_type[:40]!r}.{why}",
        code="address.type_not_offered",
        type=[f"One of: {', '.join(offered)}."],
    )


def check_settings(space_type: str, address_type: str, settings: AddressSettings) -> None:
    """Return if the settings are in range and mean something for this type of address.

    Raises:
        Invalid: names each setting that is wrong.
    """
    given = {name: value for name, value in asdict(settings).items() if value not in (None, "")}
    meant = _meant(space_type, address_type)
    wrong = {name: [_not_meant(name, space_type, address_type)] for name in given.keys() - meant}
    for name, smallest in _SMALLEST.items():
        value = getattr(settings, name)
        if value is not None and not smallest <= value <= _LARGEST[name]:
            wrong[name] = [f"From {smallest} to {_LARGEST[name]}, or absent for the plan's value."]
    if wrong:
        raise Invalid(
            f"Some settings are not right: {', '.join(sorted(wrong))}.",
            code="address.invalid",
            **dict(sorted(wrong.items())),
        )


def _wrong_with(address: str) -> str:
    if not _LEGAL.fullmatch(address) or not address.isprintable():
        return (
            "1 to 255 characters without spaces, control characters, '#', '*' or '+', not "
            "beginning with '$' or ':'."
        )
    if "::" in address:
        return "It must not contain '::', which is how a subscription is consumed."
    if "${" in address:
        return "It must not contain '${', which brokers substitute by a property of their own."
    if _URL in address:
        return "It must not contain ':/', which routers read as part of a URL."
    if address.lower().startswith(RESERVED_PREFIXES):
        return f"These beginnings are reserved: {' '.join(RESERVED_PREFIXES)}"
    return ""


def _lacking(address_type: str, capabilities: Collection[Capability]) -> str:
    needed = _NEEDS.get(AddressType(address_type)) if address_type in AddressType.values else None
    return needed.value if needed is not None and needed not in capabilities else ""


def _meant(space_type: str, address_type: str) -> set[str]:
    if address_type == AddressType.SUBSCRIPTION:
        return {"topic"}
    if address_type not in (AddressType.QUEUE, AddressType.TOPIC):
        return set()
    return {*_SMALLEST} | ({"dead_letter"} if space_type == SpaceType.BROKERED else set())


def _not_meant(name: str, space_type: str, address_type: str) -> str:
    if name == "dead_letter" and address_type in (AddressType.QUEUE, AddressType.TOPIC):
        return f"A {space_type} space has no dead letters yet; leave it out."
    return f"It means nothing for an address of type {address_type}; leave it out."
