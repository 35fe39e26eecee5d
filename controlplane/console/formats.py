"""How figures, phases and states are worded on pages. Pure; templates reach it by filters."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from controlplane.console import charts, meters
from controlplane.core.models import AuditEvent
from controlplane.core.phases import MESH_INCOMPLETE, REACHABLE, Phase
from tenants.models import AddressSpace

_PHASE_CLASS = {
    Phase.ACTIVE: "good",
    Phase.FAILED: "bad",
    Phase.PENDING: "busy",
    Phase.CONFIGURING: "busy",
    Phase.TERMINATING: "warn",
}
_INVOICE_CLASS = {
    "held": "bad",
    "overdue": "bad",
    "uncollectible": "bad",
    "paid": "good",
    "partly_paid": "warn",
    "issued": "busy",
    "draft": "warn",
    "approved": "busy",
    "closing": "busy",
    "issuing": "busy",
}
_STEP_CLASS = {"Done": "done", "Wait": "now", "Failed": "failed"}
_OPERATION_CLASS = {"Running": "busy", "Succeeded": "good", "Failed": "bad"}
_VERBS = {
    "change_plan": "Change the plan of",
    "create": "Create",
    "delete": "Delete",
    "update": "Change",
    "revoke": "Revoke",
    "withdraw_send": "Block sending on",
    "restore_send": "Allow sending on",
}
# Of a space that serves: what will hurt clients when it runs out, and what hurts those outside.
_TOLD_OF_ACTIVE = frozenset({"Certificate", REACHABLE})
_REASONS_TOLD_OF_ACTIVE = frozenset({MESH_INCOMPLETE})
_SPANS = ((86400, "day"), (3600, "hour"), (60, "minute"))


def phase_class(phase: str) -> str:
    """Return the badge class of a phase; unknown ones look neutral."""
    return _PHASE_CLASS.get(phase, "")  # type: ignore[call-overload, no-any-return]


def invoice_class(state: str) -> str:
    """Return the badge class of an invoice's state."""
    return _INVOICE_CLASS.get(state, "")


def step_class(state: str) -> str:
    """Return the list class of an operation's step."""
    return _STEP_CLASS.get(state, "todo")


def operation_class(state: str) -> str:
    """Return the badge class of an operation's state."""
    return _OPERATION_CLASS.get(state, "")


def operation_title(kind: str, name: str) -> str:
    """Return an operation as a sentence's head: ``address.create`` of x -> ``Create address x``."""
    noun, _, verb = kind.partition(".")
    return f"{_VERBS.get(verb, verb.capitalize())} {plain_words(noun)} {name}"


def problems(conditions: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the conditions that say what is in the way."""
    return [each for each in conditions if each["status"] == "False" and each["message"]]


def problems_of(space: AddressSpace) -> list[Mapping[str, Any]]:
    """Return what is in the way of a space; of one that serves, what clients will notice."""
    found = problems(space.conditions)
    if space.phase != Phase.ACTIVE:
        return found
    return [
        each
        for each in found
        if each["type"] in _TOLD_OF_ACTIVE or each["reason"] in _REASONS_TOLD_OF_ACTIVE
    ]


def problem_words(space: AddressSpace) -> str:
    """Return what is in the way of a space, in one line."""
    return " ".join(f"{each['reason']}: {each['message']}" for each in problems_of(space))


def operation_words(operations: Sequence[str]) -> str:
    """Return what a messaging user may do: ``send and receive``."""
    return " and ".join("receive" if each == "recv" else each for each in operations)


def change_words(event: AuditEvent) -> str:
    """Return what an audit event changed as one line: ``role: viewer → admin``."""
    names = dict.fromkeys([*event.before, *event.after])
    return ", ".join(
        f"{name}: {_value(event.before[name])} → {_value(event.after.get(name))}"
        if name in event.before
        else f"{name}: {_value(event.after[name])}"
        for name in names
        if name not in event.before or event.before[name] != event.after.get(name)
    )


def _value(value: Any) -> str:
    if value is None or value == "":
        return "nothing"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def limit_words(amount: int | None) -> str:
    """Return a limit for people; None is no limit."""
    return "no limit" if amount is None else f"{amount:,}"


def quantity(base: int, meter: str) -> str:
    """Return a stored quantity in its unit for people: ``1,250 messages``, ``0.5 hours``."""
    shown = meters.BY_METER.get(meter)
    if shown is None:
        return charts.words(Decimal(base))
    return f"{charts.words(shown.amount(base))} {shown.unit}"


def ago(moment: datetime, now: datetime) -> str:
    """Return how long ago a moment was, in its largest whole unit: ``3 hours ago``."""
    seconds = int((now - moment) / timedelta(seconds=1))
    for size, unit in _SPANS:
        if seconds >= size:
            count = seconds // size
            return f"{count} {unit}{'s' if count > 1 else ''} ago"
    return "just now"


def plain_words(slug: str) -> str:
    """Return a slug as words: ``messages_per_month`` -> ``messages per month``."""
    return slug.replace("_", " ").replace(".", ": ")
