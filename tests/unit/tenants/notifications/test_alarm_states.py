"""The rule of an alarm: for how long, hysteresis, and ages that grow without a reading."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from tenants.notifications.alarm_states import Change, Rule, State, of_age, of_value

NOW = datetime(2026, 12, 1, 2, tzinfo=UTC)
RULE = Rule(100, 80, timedelta(seconds=60))


def after(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def test_an_alarm_is_raised_after_its_time_and_cleared_below_the_lower_value() -> None:
    state, change = of_value(RULE, State(), 100, NOW)
    assert (state, change) == (State(NOW, None, after(60)), Change.NONE)
    state, change = of_value(RULE, state, 500, after(59))
    assert change is Change.NONE
    state, change = of_value(RULE, state, 100, after(60))
    assert (state, change) == (State(NOW, after(60)), Change.RAISED)
    for value in (1000, 99, 80):  # below the threshold, but not below the lower value
        state, change = of_value(RULE, state, value, after(61))
        assert change is Change.NONE
    assert of_value(RULE, state, 79, after(62)) == (State(), Change.CLEARED)


def test_a_short_peak_raises_nothing() -> None:
    state, _ = of_value(RULE, State(), 100, NOW)
    state, change = of_value(RULE, state, 99, after(59))

    assert (state, change) == (State(), Change.NONE)
    assert of_value(RULE, state, 100, after(61))[1] is Change.NONE


def test_an_unknown_value_changes_nothing() -> None:
    raised = State(NOW, after(60))

    assert of_value(RULE, raised, None, after(99)) == (raised, Change.NONE)


def test_an_age_is_due_in_each_cycle_and_counts_since_it_reached_the_threshold() -> None:
    state, change = of_age(RULE, State(), NOW, after(5))
    assert (state, change) == (State(due_at=after(5)), Change.NONE)
    state, change = of_age(RULE, state, NOW, after(110))  # the cycle came 10 s late
    assert (state, change) == (State(after(100), None, after(110)), Change.NONE)
    state, change = of_age(RULE, state, NOW, after(160))
    assert change is Change.RAISED
    # The next message is younger, but not young enough.
    state, change = of_age(RULE, state, after(90), after(171))
    assert change is Change.NONE
    assert of_age(RULE, state, after(95), after(172))[1] is Change.CLEARED


def test_an_empty_queue_clears_an_age() -> None:
    assert of_age(RULE, State(NOW, after(60)), None, after(99)) == (State(), Change.CLEARED)


@given(
    st.lists(st.integers(0, 200), max_size=30),
    st.integers(1, 100),
    st.integers(0, 30),
)
def test_raised_and_cleared_alternate(values: list[int], lower: int, hold: int) -> None:
    rule = Rule(100, lower, timedelta(seconds=hold))
    state, changes = State(), []
    for number, value in enumerate(values):
        state, change = of_value(rule, state, value, after(number * 10))
        if change is not Change.NONE:
            changes.append(change)
        assert (state.raised_at is not None) == (changes[-1:] == [Change.RAISED])

    expected = [Change.RAISED, Change.CLEARED] * len(changes)
    assert changes == expected[: len(changes)]
