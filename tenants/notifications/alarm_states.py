"""The rule of an alarm as a pure function: value and time in, next state out."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum


class Change(Enum):
    """What an evaluation changes: nothing that people notice, or the alarm begins or ends."""

    NONE = "none"
    RAISED = "raised"
    CLEARED = "cleared"


@dataclass(frozen=True)
class Rule:
    """An alarm: raised at ``threshold`` or more for ``hold``, cleared below ``clear_below``."""

    threshold: int
    clear_below: int
    hold: timedelta


@dataclass(frozen=True)
class State:
    """Since when the value is too high, since when the alarm is raised, when to look again.

    ``due_at`` is None if nothing changes without another value.
    """

    breached_since: datetime | None = None
    raised_at: datetime | None = None
    due_at: datetime | None = None


def of_value(rule: Rule, state: State, value: int | None, now: datetime) -> tuple[State, Change]:
    """Return the state after the value ``value`` at ``now``, and what it changes.

    None is an unknown value, which changes nothing.
    """
    if value is None:
        return State(state.breached_since, state.raised_at), Change.NONE
    return _step(rule, state, value, now, now)


def of_age(
    rule: Rule, state: State, oldest_at: datetime | None, now: datetime
) -> tuple[State, Change]:
    """Return the state for a queue whose oldest message arrived at ``oldest_at``; None: empty.

    An age grows without any new reading. So the state of a queue with messages is due at once: the
    next cycle evaluates it again, which also keeps the value that pages show up to date.
    """
    if oldest_at is None:
        return _step(rule, state, 0, now, now)
    reaches_at = oldest_at + timedelta(seconds=rule.threshold)
    value = max(0, int((now - oldest_at).total_seconds()))
    after, change = _step(rule, state, value, now, reaches_at)
    return State(after.breached_since, after.raised_at, now), change


def _step(
    rule: Rule, state: State, value: int, now: datetime, reached_at: datetime
) -> tuple[State, Change]:
    """Return the next state. ``reached_at`` is since when a value that is too high has been so."""
    if state.raised_at is not None:
        if value < rule.clear_below:
            return State(), Change.CLEARED
        return State(state.breached_since, state.raised_at), Change.NONE
    if value < rule.threshold:
        return State(), Change.NONE
    since = state.breached_since or min(reached_at, now)
    if now - since >= rule.hold:
        return State(since, now), Change.RAISED
    return State(since, None, since + rule.hold), Change.NONE
