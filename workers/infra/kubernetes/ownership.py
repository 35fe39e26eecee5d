"""Who wrote which field of a live object, as its managed fields tell. Pure.

Source: Kubernetes documentation, "Server-Side Apply", section "Field management"; the form of
``fieldsV1`` is that of the API reference, FieldsV1.
"""

from collections.abc import Mapping
from typing import Any

FIELD_MANAGER = "waypost"
REPAIRER = "waypost-repair"  # not the applier's name: what is written so, an apply may take back
_OURS = frozenset({FIELD_MANAGER, REPAIRER})


def find_appliers(live: Mapping[str, Any] | None) -> frozenset[str]:
    """Return the field managers that apply (server-side) the object."""
    return frozenset(each["manager"] for each in _entries(live) if each["operation"] == "Apply")


def list_written(live: Mapping[str, Any]) -> frozenset[str]:
    """Return the keys of an object's ``data`` whose values are ours.

    A value that somebody edited is his: the API server moves it to him.
    """
    fields = [each.get("fieldsV1", {}) for each in _entries(live) if each["manager"] in _OURS]
    held = (live.get("data") or {}).keys()
    return frozenset(
        name for name in held if any(f"f:{name}" in each.get("f:data", {}) for each in fields)
    )


def _entries(live: Mapping[str, Any] | None) -> list[Mapping[str, Any]]:
    found = live["metadata"].get("managedFields", []) if live else []
    return [each for each in found if each.get("manager")]  # one that was taken away is empty
