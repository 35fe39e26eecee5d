"""Find who wrote which field of a live object, from its managed fields. Pure.

Sources: Kubernetes documentation, "Server-Side Apply", section "Field management"; API reference,
FieldsV1.
"""

from collections.abc import Mapping

from workers.infra.kubernetes.reported import Files, ManagedFields, Reported

FIELD_MANAGER = "waypost"
# The field manager of Waypost's merge and JSON patches. If it were FIELD_MANAGER, ``Api.apply``
# would take the patched fields for those of another applier, and refuse to overwrite them.
REPAIRER = "waypost-repair"
_OURS = frozenset({FIELD_MANAGER, REPAIRER})  # owners of fields that Waypost wrote itself


def find_appliers(live: Reported | None) -> frozenset[str]:
    """Return the field managers that use server-side apply on the object; empty for None."""
    return frozenset(entry.manager for entry in _entries(live) if entry.operation == "Apply")


def list_written(live: Files) -> frozenset[str]:
    """Return the keys of an object's ``data`` whose present values Waypost wrote.

    If somebody else edits a value, the API server records that client as its manager instead.
    """
    ours = [entry.fields_v1.get("f:data") for entry in _entries(live) if entry.manager in _OURS]
    keys = {key for fields in ours if isinstance(fields, Mapping) for key in fields}
    return frozenset(name for name in live.data if f"f:{name}" in keys)


def _entries(live: Reported | None) -> list[ManagedFields]:
    found = live.metadata.managed_fields if live else ()
    return [entry for entry in found if entry.manager]  # a removed entry is empty
