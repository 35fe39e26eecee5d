"""Find who wrote which field of a live object, from its managed fields. Pure.

Sources: Kubernetes documentation, "Server-Side Apply", section "Field management"; API reference,
FieldsV1.
"""

from collections.abc import Mapping
from typing import Any

FIELD_MANAGER = "waypost"
# For patches. Not the applier's name: a later apply can then overwrite these fields.
REPAIRER = "waypost-repair"
_OURS = frozenset({FIELD_MANAGER, REPAIRER})


def find_appliers(live: Mapping[str, Any] | None) -> frozenset[str]:
    """Return the field managers that use server-side apply on the object."""
    return frozenset(entry["manager"] for entry in _entries(live) if entry["operation"] == "Apply")


def list_written(live: Mapping[str, Any]) -> frozenset[str]:
    """Return the keys of an object's ``data`` whose values Waypost wrote.

    If somebody edits a value, the API server makes that client its manager.
    """
    ours = [entry.get("fieldsV1", {}) for entry in _entries(live) if entry["manager"] in _OURS]
    names = (live.get("data") or {}).keys()
    return frozenset(
        name for name in names if any(f"f:{name}" in fields.get("f:data", {}) for fields in ours)
    )


def _entries(live: Mapping[str, Any] | None) -> list[Mapping[str, Any]]:
    found = live["metadata"].get("managedFields", []) if live else []
    return [entry for entry in found if entry.get("manager")]  # a removed entry is empty
