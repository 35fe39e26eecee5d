"""Phases and conditions: how a reconciled object says where it stands.

Pending -> Configuring -> Active -> Terminating -> (row keeps deleted_at)
                ^  |         |
                |  v         v
                Failed <-----+      (Failed is left again by itself when the cause is gone)
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal, TypedDict

from django.db import models

# What keeps clients outside from a space that serves; not there where nothing is known to.
REACHABLE = "Reachable"
# Whether a space with several routers has them all, joined; and why not, where clients notice.
ROUTERS = "Routers"
MESH_INCOMPLETE = "MeshIncomplete"

Status = Literal["True", "False", "Unknown"]


class Phase(models.TextChoices):
    """Where a space or an address stands between wish and reality."""

    PENDING = "Pending"
    CONFIGURING = "Configuring"
    ACTIVE = "Active"
    FAILED = "Failed"
    TERMINATING = "Terminating"


class Condition(TypedDict):
    """One observed fact: ``type`` names it, ``since`` is when ``status`` last changed."""

    type: str
    status: Status
    reason: str
    message: str
    since: str


def with_condition(conditions: Sequence[Any], new: Condition) -> list[Condition]:
    """Return ``conditions`` with ``new`` in place of its type; keeps ``since`` if unchanged."""
    kept = [c for c in conditions if c["type"] != new["type"]]
    before = next((c for c in conditions if c["type"] == new["type"]), None)
    if before is not None and before["status"] == new["status"]:
        new = {**new, "since": before["since"]}
    return sorted([*kept, new], key=lambda c: c["type"])


def find_condition(conditions: Sequence[Any], kind: str) -> Condition | None:
    """Return the condition of a type, None where nothing is said of it."""
    return next((each for each in conditions if each["type"] == kind), None)


def build_condition(
    kind: str, status: Status, reason: str, message: str, now: datetime
) -> Condition:
    """Return a condition that begins at ``now`` (UTC)."""
    return {
        "type": kind,
        "status": status,
        "reason": reason,
        "message": message,
        "since": now.isoformat(),
    }
