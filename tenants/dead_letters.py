"""Where messages of an address go if no receiver processes them.

API, portal and command read from here the default target of a new address, and which messages a
broker deletes because no target takes them.
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
# type ``deadletter``. A later creation of this address changes no existing queue or topic.
DEFAULT_NAME = _TARGET.default


def default_of(space: AddressSpace, address_type: str) -> str:
    """Return the target of dead letters for an address that names none: ``DEFAULT_NAME`` or empty.

    Empty if addresses of ``address_type`` have no such target in this type of space. Empty also if
    the space has no dead-letter address ``DEFAULT_NAME``, or one that is being deleted.
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
    """Return ``settings`` with ``dead_letter`` replaced by the default target."""
    return replace(settings, dead_letter=default_of(space, address_type))


def deleted_when(address: Address) -> list[str]:
    """Return which messages of ``address`` its broker deletes: ``rejected``, ``expired`` or both.

    Empty if targets take all of them, or if addresses of this type have no targets. A subscription
    has the targets of its topic. A dead-letter address has no targets: its broker deletes expired
    messages, if a setting or the plan limits their lifetime.
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
