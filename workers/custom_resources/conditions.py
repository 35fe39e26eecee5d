"""The conditions in the status of a custom resource. Pure.

``Synced`` is True if the API has accepted the state that the resource describes. All other
conditions, such as ``Ready``, are copied from the object in the API.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from controlplane.core.errors import WaypostError
from workers.custom_resources.resource import Json, Resource

SYNCED = "Synced"
READY = "Ready"
_LONGEST = 1000  # characters of a message


def camel_case(code: str) -> str:
    """Return the code of an error as the reason of a condition: ``address.exists`` →
    ``AddressExists``."""
    return "".join(part.capitalize() for part in re.split(r"[._]", code))


def synced() -> Json:
    """Return the condition ``Synced`` with status True.

    The API has accepted what the resource says. Workers may not have applied it yet.
    """
    return _condition(SYNCED, "True", "Applied", "The API has accepted this state.")


def refused(error: WaypostError) -> Json:
    """Return the condition ``Synced`` with status False, and the code and text of ``error``."""
    details = "; ".join(
        f"{name}: {' '.join(map(str, reasons)) if isinstance(reasons, list) else reasons}"
        for name, reasons in error.fields.items()
    )
    text = f"{error.error_code}: {error.message}"
    message = f"{text} ({details})" if details else text
    return _condition(SYNCED, "False", camel_case(error.error_code), message[:_LONGEST])


def of_object(shown: Mapping[str, Any] | None) -> Sequence[Json]:
    """Return the conditions of the API's object ``shown``; None: there is no such object.

    ``Ready`` is True only if the workers have applied the newest change.
    """
    if shown is None:
        return [_condition(READY, "False", "NotCreated", "Waypost has no such object yet.")]
    found = [
        _condition(one["type"], one["status"], one["reason"], one["message"])
        for one in shown["conditions"]
        if one["type"] != SYNCED
    ]
    ready = next((one for one in found if one["type"] == READY), None)
    others = [one for one in found if one["type"] != READY]
    is_applied = shown["observed_generation"] >= shown["generation"]
    if ready is None or (ready["status"] == "True" and not is_applied):
        ready = _condition(READY, "False", "Configuring", "Workers apply the newest change.")
    return [ready, *others]


def is_ready(conditions: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether the condition ``Ready`` is True."""
    return any(one["type"] == READY and one["status"] == "True" for one in conditions)


def stamped(resource: Resource, conditions: Sequence[Json], now: datetime) -> Sequence[Json]:
    """Return ``conditions`` with the resource's generation and the time of the last transition.

    The time is kept if the resource has the condition with the same status already.
    """
    before = {one["type"]: one for one in resource.conditions}
    # Whole seconds, as Kubernetes writes instants.
    moment = now.strftime("%Y-%m-%dT%H:%M:%SZ")
    stamped = []
    for one in conditions:
        known = before.get(one["type"], {})
        is_same = known.get("status") == one["status"]
        since = known.get("lastTransitionTime", moment) if is_same else moment
        stamped.append(
            {**one, "lastTransitionTime": since, "observedGeneration": resource.generation}
        )
    return sorted(stamped, key=lambda one: str(one["type"]))


def _condition(kind: str, status: str, reason: str, message: str) -> Json:
    return {"type": kind, "status": status, "reason": reason, "message": message}
