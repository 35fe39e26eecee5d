"""In which order addresses are created and deleted: some settings of an address name another one.

The API refuses an address whose topic or target of dead letters does not exist, and the deletion
of an address that another one names.
"""

from collections.abc import Mapping
from typing import Any

from controlplane.core.address_types import SETTINGS
from controlplane.core.setting_values import Reference

_REFERENCES = {row.name: row.value for row in SETTINGS if isinstance(row.value, Reference)}


def levels(addresses: Mapping[str, Mapping[str, Any]]) -> dict[str, int]:
    """Return {address: level}; an address has a higher level than those that its settings name.

    ``addresses`` is {address: its fields}. A field that is absent or None has its default. Names
    of other addresses than these are ignored. If addresses name
    each other in a circle, their order is arbitrary.
    """
    found: dict[str, int] = {}

    def level(name: str, above: frozenset[str]) -> int:
        if name not in found:
            # Without the names above this one: a circle of addresses would recurse for ever.
            named = _named(addresses[name]) & addresses.keys() - above - {name}
            found[name] = max((level(one, above | {name}) + 1 for one in named), default=0)
        return found[name]

    for name in addresses:
        level(name, frozenset())
    return found


def _named(fields: Mapping[str, Any]) -> set[str]:
    given = {name: fields.get(name) for name in _REFERENCES}
    return {
        kind.default if given[name] is None else str(given[name])
        for name, kind in _REFERENCES.items()
    }
