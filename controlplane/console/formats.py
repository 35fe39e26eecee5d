"""Texts and CSS classes for figures, phases and states. Pure.

Templates call most of these functions through the filters of ``templatetags.console``.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from controlplane.console import charts, meters
from controlplane.core.phases import REACHABLE, READY, Phase, find_condition
from controlplane.core.reasons import ENGINE_DOWN, STARTING, Reason
from plans.models import Invoice, QuotaAlert
from plans.quotas import enforcement
from plans.quotas.resources import AtQuota, words
from tenants.models import AddressSpace

# The values of these tables are class names of console.css.
_PHASE_CLASS = {
    Phase.ACTIVE: "good",
    Phase.FAILED: "bad",
    Phase.PENDING: "busy",
    Phase.CONFIGURING: "busy",
    Phase.TERMINATING: "warn",
}
# State of an invoice -> CSS class of its badge.
_INVOICE_CLASS: Mapping[str, str] = {
    Invoice.State.OPEN: "",
    Invoice.State.HELD: "bad",
    Invoice.State.OVERDUE: "bad",
    Invoice.State.UNCOLLECTIBLE: "bad",
    Invoice.State.PAID: "good",
    Invoice.State.PARTLY_PAID: "warn",
    Invoice.State.ISSUED: "busy",
    Invoice.State.DRAFT: "warn",
    Invoice.State.APPROVED: "busy",
    Invoice.State.CLOSING: "busy",
    Invoice.State.ISSUING: "busy",
    Invoice.State.VOIDED: "",
}
# State of an invoice -> words, where they differ.
_INVOICE_WORDS: Mapping[str, str] = {
    **dict.fromkeys(
        [
            Invoice.State.OPEN,
            Invoice.State.CLOSING,
            Invoice.State.HELD,
            Invoice.State.DRAFT,
            Invoice.State.APPROVED,
            Invoice.State.ISSUING,
        ],
        "In preparation",
    ),
    Invoice.State.UNCOLLECTIBLE: "Written off",
}
_NOUNS = {"messages": "messages of"}
# Kinds of operations whose title is not "verb, noun, name".
_TITLES = {"messages.send": "Send a test message to"}
_STEP_CLASS = {"done": "done", "running": "now", "waiting": "now", "failed": "failed"}
_OPERATION_CLASS = {"Running": "busy", "Succeeded": "good", "Failed": "bad"}
_VERBS = {
    "change_plan": "Change the plan of",
    "close": "Close",
    "create": "Create",
    "delete": "Delete",
    "update": "Change",
    "revoke": "Revoke",
    "withdraw_send": "Block sending on",
    "restore_send": "Allow sending on",
    "throttle": "Lower the limits of",
    "end_throttle": "Restore the limits of",
    "refuse_connections": "Refuse connections to",
    "admit_connections": "Allow connections to",
}
# What happens at 100 % of a monthly limit.
AT_QUOTA: Mapping[str, str] = {
    AtQuota.NOTIFY: "you are notified",
    AtQuota.THROTTLE: "clients slow down",
    AtQuota.WITHDRAW_SEND: "sending pauses",
    AtQuota.REFUSE_CONNECTIONS: "clients cannot connect",
}
# What ``problems_of`` shows of an Active space.
_TYPES_SHOWN_WHEN_ACTIVE = frozenset({"Certificate", REACHABLE})
_REASONS_SHOWN_WHEN_ACTIVE = frozenset({Reason.MESH_INCOMPLETE})
_DOWN = ENGINE_DOWN - STARTING - {Reason.ROLLING_OUT}
_WORDS_OF_REASON = re.compile(r"[A-Z][a-z]*")  # ``BrokerDown`` -> Broker, Down
_REASONS = frozenset(Reason)
_SPANS = ((86400, "day"), (3600, "hour"), (60, "minute"))  # seconds, unit; the largest first


def phase_class(phase: str) -> str:
    """Return the CSS class of a phase's badge, or '' (neutral) for an unknown phase."""
    return _PHASE_CLASS.get(phase, "")  # type: ignore[call-overload, no-any-return]


def invoice_class(state: str) -> str:
    """Return the CSS class of the badge of an invoice's state; '' is neutral.

    Raises:
        KeyError: ``state`` is not one of ``Invoice.State``.
    """
    return _INVOICE_CLASS[state]


def invoice_state_words(state: str) -> str:
    """Return an invoice's state for its tenant: ``In preparation`` for all states before issue."""
    return _INVOICE_WORDS.get(state, plain_words(state).capitalize())


def step_class(step: Mapping[str, str]) -> str:
    """Return the CSS class of an operation's step: ``done``, ``now``, ``failed`` or ``todo``.

    A waiting step is ``now`` if it has a message, else ``todo``.

    Raises:
        KeyError: the step's state is not one that ``operations.progress`` documents.
    """
    # The message of a step that waits for something says for what. A step whose turn has not come
    # has no message.
    if step["state"] == "waiting" and not step["message"]:
        return "todo"
    return _STEP_CLASS[step["state"]]


def operation_class(state: str) -> str:
    """Return the CSS class of the badge of an operation's state; '' (neutral) if unknown."""
    return _OPERATION_CLASS.get(state, "")


def operation_title(kind: str, name: str) -> str:
    """Return an operation's title, such as ``Create address x`` for ``address.create``.

    ``name`` is the name of the operation's subject.
    """
    if kind in _TITLES:
        return f"{_TITLES[kind]} {name}"
    noun, _, verb = kind.partition(".")
    return f"{_VERBS.get(verb, verb.capitalize())} {_NOUNS.get(noun, plain_words(noun))} {name}"


def messages(count: int | None) -> str:
    """Return a count of messages with its noun, such as ``1 message``; empty for None."""
    return "" if count is None else f"{count:,} message{'s' * (count != 1)}"


def problems(conditions: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the conditions whose status is False and that have a message."""
    return [
        condition
        for condition in conditions
        if condition["status"] == "False" and condition["message"]
    ]


def problems_of(space: AddressSpace) -> list[Mapping[str, Any]]:
    """Return the problems of a space (see ``problems``).

    If the space is Active, the result has only problems that clients notice: an expiring
    certificate, an endpoint that they cannot reach yet, routers that are not all connected to each
    other. If the space was never Active, the result lacks what every space waits for at its start.
    """
    found = problems(space.conditions)
    if space.active_since is None:
        return [condition for condition in found if condition["reason"] not in STARTING]
    if space.phase != Phase.ACTIVE:
        return found
    return [
        condition
        for condition in found
        if condition["type"] in _TYPES_SHOWN_WHEN_ACTIVE
        or condition["reason"] in _REASONS_SHOWN_WHEN_ACTIVE
    ]


def is_in_trouble(space: AddressSpace) -> bool:
    """Return whether a space that was Active has stopped working: messages may not pass now.

    A space whose brokers or routers restart for a change is in no trouble.
    """
    ready = find_condition(space.conditions, READY)
    if space.active_since is None or ready is None or ready["status"] != "False":
        return False
    return space.phase == Phase.FAILED or ready["reason"] in _DOWN


def problem_words(space: AddressSpace) -> str:
    """Return all problems of a space on one line for staff: ``Reason: text`` for each; '' if none.

    The text is the condition's ``detail`` for staff, or its message if it has no detail.
    """
    return " ".join(
        f"{reason_words(condition['reason'])}: {condition.get('detail') or condition['message']}"
        for condition in problems_of(space)
    )


def reason_words(reason: str) -> str:
    """Return the reason of a condition as words: ``BrokerDown`` -> ``Broker down``."""
    return " ".join(_WORDS_OF_REASON.findall(reason)).capitalize()


def step_words(message: str) -> str:
    """Return the message of an operation's step for people, without the reason in front of it.

    ``RouterStarting: router-0 does not answer yet`` becomes ``router-0 does not answer yet.``
    """
    reason, colon, rest = message.partition(": ")
    text = rest if colon and reason in _REASONS else message
    return text if not text or text[-1] in ".!?" else f"{text}."


def operation_words(operations: Sequence[str]) -> str:
    """Return what a messaging user may do as text: ``send and receive`` for ``send``, ``recv``."""
    return " and ".join("receive" if name == "recv" else name for name in operations)


def limit_words(amount: int | None, resource: str = "") -> str:
    """Return a limit as people read it; ``no limit`` for None."""
    return "no limit" if amount is None else enforcement.amount_words(resource, amount)


def alert_words(alert: QuotaAlert) -> str:
    """Return what an alert says: how much of which limit is used, and what of it has not landed."""
    used, limit, tail = (
        enforcement.amount_words(alert.resource, amount, alert.currency)
        for amount in (alert.used, alert.limit, alert.tail)
    )
    text = f"{alert.level_percent} % of your {words(alert.resource)} is used: {used} of {limit}"
    return f"{text}, {tail} of it not landed yet." if alert.tail else f"{text}."


def alert_consequence(alert: QuotaAlert) -> str:
    """Return what the alert of a quota makes Waypost do to clients.

    Empty below 100 %, and if the action of the quota is only to notify.
    """
    is_full = alert.level_percent >= 100 and alert.action != AtQuota.NOTIFY
    return enforcement.CONSEQUENCES[AtQuota(alert.action)] if is_full else ""


def quantity(base: int, meter: str) -> str:
    """Return ``base`` base units of a meter as text in its display unit: ``1,250 messages``.

    For a meter that is not sampled, the text is the number of base units without a unit.
    """
    shown = meters.BY_METER.get(meter)
    if shown is None:  # a meter without samples, whose unit the portal does not know: base units
        return charts.words(Decimal(base))
    return charts.counted(shown.amount(base), shown.unit)


def ago(moment: datetime, now: datetime) -> str:
    """Return the age of ``moment`` in days, hours or minutes: ``3 hours ago``.

    Less than a minute, or a time in the future, is ``just now``.
    """
    seconds = int((now - moment) / timedelta(seconds=1))
    for size, unit in _SPANS:
        if seconds >= size:
            count = seconds // size
            return f"{count} {unit}{'s' if count > 1 else ''} ago"
    return "just now"


def plain_words(slug: str) -> str:
    """Return a slug as text: ``messages_per_month`` -> ``messages per month``.

    A dot becomes a colon and a space.
    """
    return slug.replace("_", " ").replace(".", ": ")
