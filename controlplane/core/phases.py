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

# Condition type: clients outside the cluster cannot reach the space, although it serves those
# inside. A space has it only while an obstacle is known, so its status is always False.
REACHABLE = "Reachable"
# Condition type: whether all routers of a space are connected to each other. A space that needs
# only one router does not have this condition.
ROUTERS = "Routers"

Status = Literal["True", "False", "Unknown"]


class Phase(models.TextChoices):
    """How far a space, an address or a messaging user is on the way to its desired state.

    Terminating also stays the phase of a deleted row.
    """

    PENDING = "Pending"
    CONFIGURING = "Configuring"
    ACTIVE = "Active"
    FAILED = "Failed"
    TERMINATING = "Terminating"


class Condition(TypedDict):
    """One observed fact about a space, an address or a user, as its row stores it in JSON.

    ``type`` names the fact, such as ``Ready``. ``since`` is when ``status`` last changed, in ISO
    8601. ``reason`` is a value of ``Reason``, and ``message`` is for people. ``detail`` is what
    staff read in place of ``message``; it may name hosts and registries. ``cause`` is a value of
    ``Cause``. A condition without a detail, or one that an older version stored, lacks both keys.
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
    """Return a new list of ``conditions`` with ``new`` in place of the one of its type, if any.

    If that one has the same status, ``new`` gets its ``since``. The list is sorted by type.
    """
    others = [condition for condition in conditions if condition["type"] != new["type"]]
    before = find_condition(conditions, new["type"])
    if before is not None and before["status"] == new["status"]:
        new = {**new, "since": before["since"]}
    return sorted([*others, new], key=lambda condition: condition["type"])


def find_condition(conditions: Sequence[Any], kind: str) -> Condition | None:
    """Return the condition of type ``kind`` among ``conditions``, or None if there is none."""
    return next((condition for condition in conditions if condition["type"] == kind), None)


def of_staff(condition: Condition) -> str:
    """Return the text of a condition that staff read: its detail, or its message without one."""
    return condition.get("detail") or condition["message"]


def with_detail(condition: Condition, detail: str, cause: Cause = Cause.NONE) -> Condition:
    """Return the condition with ``detail``, for staff, and ``cause``.

    If ``detail`` is empty, return the condition unchanged: ``cause`` is then left out too.
    """
    return {**condition, "detail": detail, "cause": str(cause)} if detail else condition


def build_condition(
    kind: str, status: Status, reason: Reason, message: str, now: datetime
) -> Condition:
    """Return a condition of type ``kind`` whose ``since`` is ``now`` (UTC), without a detail.

    ``with_condition`` replaces ``since`` if the status has not changed.
    """
    return {
        "type": kind,
        "status": status,
        "reason": str(reason),
        "message": message,
        "since": now.isoformat(),
    }
