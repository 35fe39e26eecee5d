"""Phases and conditions: the observed status of a reconciled object.

Pending -> Configuring -> Active -> Terminating -> (row keeps deleted_at)
                ^  |         |
                |  v         v
                Failed <-----+      (Failed ends by itself when the cause is gone)
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal, NotRequired, TypedDict

from django.db import models

from controlplane.core.causes import Cause
from controlplane.core.reasons import Reason

# Condition type: clients outside the cluster cannot reach the space, although it serves. Its status
# is always False. A space without a known obstacle does not have it.
REACHABLE = "Reachable"
# Condition type: whether all routers of a space are connected to each other. A space that needs
# only one router does not have it.
ROUTERS = "Routers"

Status = Literal["True", "False", "Unknown"]


class Phase(models.TextChoices):
    """How far a space, an address or a messaging user is on the way to its desired state."""

    PENDING = "Pending"
    CONFIGURING = "Configuring"
    ACTIVE = "Active"
    FAILED = "Failed"
    TERMINATING = "Terminating"


class Condition(TypedDict):
    """One observed fact about an object.

    ``type`` names the fact, such as ``Ready``. ``since`` is when ``status`` last changed, in ISO
    8601. ``reason`` is a value of ``Reason``, and ``message`` is for people. ``detail`` is what
    staff read in place of the message; it may name hosts and registries. ``cause`` is a value of
    ``Cause``. A condition without a detail, or of an older version, lacks both.
    """

    type: str
    status: Status
    reason: str
    message: str
    since: str
    detail: NotRequired[str]
    cause: NotRequired[str]


READY = "Ready"  # the type of the condition that every space, address and user has


def with_condition(conditions: Sequence[Any], new: Condition) -> list[Condition]:
    """Return ``conditions`` with ``new`` in place of the condition of its type, sorted by type.

    If the status is the same as before, the result keeps the former ``since``.
    """
    others = [condition for condition in conditions if condition["type"] != new["type"]]
    before = find_condition(conditions, new["type"])
    if before is not None and before["status"] == new["status"]:
        new = {**new, "since": before["since"]}
    return sorted([*others, new], key=lambda condition: condition["type"])


def find_condition(conditions: Sequence[Any], kind: str) -> Condition | None:
    """Return the condition of type ``kind``, or None."""
    return next((condition for condition in conditions if condition["type"] == kind), None)


def of_staff(condition: Condition) -> str:
    """Return the message of a condition that staff read."""
    return condition.get("detail") or condition["message"]


def with_detail(condition: Condition, detail: str, cause: Cause = Cause.NONE) -> Condition:
    """Return the condition with its detail for staff; unchanged if there is none."""
    return {**condition, "detail": detail, "cause": str(cause)} if detail else condition


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
