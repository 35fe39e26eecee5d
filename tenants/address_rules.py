"""Validation of an address's name, type and settings.

The functions read neither rows nor Django settings, so they need no lock. Checks that need rows are
in ``tenants.address_admission``.
"""

import re

from controlplane.core import address_types
from controlplane.core.address_types import AddressSettings
from controlplane.core.errors import Invalid
from controlplane.core.setting_values import Text, Whole
from tenants.models import AddressType, SpaceType

# ``$``: management and internal addresses of routers and brokers. ``wp-``, ``wp.``: Waypost's own
# entities. ``activemq.``: the broker's own addresses. ``_``: ``_local``, ``_topo`` and ``_edge`` of
# routers. ``!!``: reserved for future use by Waypost. ``/``, ``.``: routers read ``/a`` as ``a``,
# and to them ``.`` equals ``/``.
RESERVED_PREFIXES = ("$", "wp-", "wp.", "activemq.", "_", "!!", "/", ".")
# Routers read an address with ``:/`` as a URL and drop its scheme.
_URL = ":/"
_LEGAL = re.compile(r"[^\s#*+$:][^\s#*+]{0,254}")

if set(AddressType.values) != set(address_types.BY_SLUG):
    raise RuntimeError("controlplane.core.address_types and AddressType name different types")
if set(SpaceType.values) != set(address_types.SPACE_TYPES):
    raise RuntimeError("controlplane.core.address_types and SpaceType name different types")


def check_name(space_type: str, address: str) -> None:
    """Check that ``address`` is a legal name in a space of this type; it may still be taken.

    Raises:
        Invalid: the name is not legal; the message says why.
    """
    reason = _wrong_with(address)
    if not reason and space_type == SpaceType.STANDARD and "," in address:
        reason = "It must not contain ',', which separates the addresses in a router's policy."
    if reason:
        raise Invalid(
            f"{address[:80]!r} is not a legal address. {reason}",
            code="address.invalid",
            address=[reason],
        )


def name_at_routers(address: str) -> str:
    """Return the name as routers compare it: with ``/`` for each ``.``.

    To routers both characters separate levels. Two addresses of a standard space must not have the
    same name in this form.

    Source: Qpid Dispatch 1.19, parse_tree.c (``token separators``).
    """
    return address.replace(".", "/")


def check_type(space_type: str, address_type: str) -> None:
    """Check that a space of ``space_type`` offers addresses of ``address_type``.

    Raises:
        Invalid: ``address_type`` is not offered; the message lists the types that are.
    """
    offered = address_types.offered_in(space_type)
    if address_type in offered:
        return
    raise Invalid(
        f"A {space_type} space offers: {', '.join(offered)}; not {address_type[:40]!r}.",
        code="address.type_not_offered",
        type=[f"One of: {', '.join(offered)}."],
    )


def check_settings(space_type: str, address_type: str, settings: AddressSettings) -> None:
    """Check that the settings with a value apply to this type of address and are in range.

    That a setting names an existing address is not checked here.

    Raises:
        Invalid: a setting is wrong; the error's fields name each one that is.
    """
    wrong = {}
    for name, value in settings.given().items():
        setting = address_types.SETTING[name]
        number = setting.value
        if address_type not in setting.types:
            reason = f"It does not apply to an address of type {address_type}; leave it out."
        elif space_type not in setting.spaces:
            reason = f"A {space_type} space does not offer it yet; leave it out."
        elif isinstance(number, Whole) and not number.smallest <= int(value) <= number.largest:
            reason = f"From {number.smallest} to {number.largest}, or absent for the plan's value."
        elif isinstance(number, Text) and (why := number.wrong_with(str(value))):
            reason = why
        else:
            continue
        wrong[name] = [reason]
    if wrong:
        raise Invalid(
            f"Some settings are not valid: {', '.join(sorted(wrong))}.",
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
        return "It must not contain '::', which separates topic and subscription for consumers."
    if "${" in address:
        return "It must not contain '${', which brokers replace with one of their properties."
    if _URL in address:
        return "It must not contain ':/', which routers read as part of a URL."
    if address.lower().startswith(RESERVED_PREFIXES):
        return f"These prefixes are reserved: {' '.join(RESERVED_PREFIXES)}"
    return ""
