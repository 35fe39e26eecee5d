"""Phases and conditions: the observed status of a reconciled object.

Pending -> Configuring -> Active -> Terminating -> (row keeps deleted_at)
                ^  |         |
                |  v         v
                Failed <-----+      (Failed ends by itself when the cause is gone)
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal, TypedDict

from django.db import models

from controlplane.core.reasons import Reason

# Condition type: whether clients outside can reach a space that serves. A space without known
# obstacles does not have it.
REACHABLE = "Reachable"
# Condition type: whether all routers of a space run and are connected with each other.
ROUTERS = "Routers"

Status = Literal["True", "False", "Unknown"]


class Phase(models.TextChoices):
    """How far a space or an address is on the way to its desired state."""

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


READY = "Ready"  # the type of the condition that every space, address and user has


def with_condition(conditions: Sequence[Any], new: Condition) -> list[Condition]:
    """Return ``conditions`` with ``new`` instead of the one of its type, sorted by type.

    An unchanged status keeps its ``since``.
    """
    others = [condition for condition in conditions if condition["type"] != new["type"]]
    before = find_condition(conditions, new["type"])
    if before is not None and before["status"] == new["status"]:
        new = {**new, "since": before["since"]}
    return sorted([*others, new], key=lambda condition: condition["type"])


def find_condition(conditions: Sequence[Any], kind: str) -> Condition | None:
    """Return the condition of type ``kind``, or None."""
    return next((condition for condition in conditions if condition["type"] == kind), None)


def build_condition(
    kind: str, status: Status, reason: Reason, message: str, now: datetime
) -> Condition:
    """Return a condition whose ``since`` is ``now`` (UTC)."""
    return {
        "type": kind,
        "status": status,
        "reason": str(reason),
        "message": message,
        "since": now.isoformat(),
    }
