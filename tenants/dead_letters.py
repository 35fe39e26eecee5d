"""Where messages of an address go that no receiver processed.

API, portal and command ask here for the default target, and for what a broker deletes because no
target takes it.
"""

from dataclasses import replace

from controlplane.core import address_types
from controlplane.core.address_types import SETTING, AddressSettings
from controlplane.core.setting_values import Reference
from plans.catalog import publishing
from tenants.models import Address, AddressSpace, AddressType

_TARGET = SETTING["dead_letter"].value
assert isinstance(_TARGET, Reference)  # for mypy
# A queue or topic whose request names no target uses this address, if its space has it with the
# type ``deadletter``. So who creates or deletes it decides for all later addresses.
DEFAULT_NAME = _TARGET.default


def default_of(space: AddressSpace, address_type: str) -> str:
    """Return the target of an address of this type that names none: ``DEFAULT_NAME`` or empty.

    Empty if the type has no targets, or if the space has no such address that may be one.
    """
    if not SETTING["dead_letter"].is_offered(space.type, address_type):
        return ""
    found = space.addresses.filter(
        address=DEFAULT_NAME, type=AddressType.DEADLETTER, deletion_requested_at__isnull=True
    )
    return DEFAULT_NAME if found.exists() else ""


def with_default(
    space: AddressSpace, address_type: str, settings: AddressSettings
) -> AddressSettings:
    """Return ``settings`` with the default target of dead letters."""
    return replace(settings, dead_letter=default_of(space, address_type))


def deleted_when(address: Address) -> list[str]:
    """Return which messages of ``address`` its broker deletes: ``rejected``, ``expired`` or both.

    Empty if targets take all of them, or if the address stores nothing. A subscription has the
    targets of its topic.
    """
    if address.type == AddressType.DEADLETTER:
        plan = publishing.address_plan_definition(address.address_plan)
        lifetime = address_types.effective(address.settings, plan).message_ttl_ms
        return [] if lifetime is None else ["expired"]
    source = address.topic or address
    if source.type not in SETTING["dead_letter"].types:
        return []
    own = source.settings
    targets = {"rejected": own.dead_letter, "expired": own.expiry or own.dead_letter}
    return [what for what, target in targets.items() if not target]
