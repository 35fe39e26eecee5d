"""A comparison holds only inside its bound, and the last line counts honestly."""

from controlplane.demo.bills import Sampling
from controlplane.demo.comparisons import Comparison, Comparisons


def test_exact_comparison_allows_nothing() -> None:
    assert Comparison("in", 200, 200).holds
    assert not Comparison("in", 200, 199).holds


def test_bounded_comparison_holds_up_to_its_bound() -> None:
    assert Comparison("hours", 1.0, 1.5, 0.5).holds
    assert not Comparison("hours", 1.0, 1.51, 0.5).holds


def test_words_are_compared_as_words() -> None:
    assert Comparison("refusal", "denied", "denied").holds
    assert not Comparison("refusal", "denied", "let in", 5).holds


def test_closing_line_counts_differences() -> None:
    comparisons = Comparisons()
    comparisons.add("one", 1, 1)
    comparisons.add("two", 1, 2)

    assert comparisons.closing_line() == "demo: 2 comparisons, 1 differences"


def test_a_row_shows_both_sides_and_the_verdict() -> None:
    row = Comparison("hours", 0.5, 0.625, 0.25).row()

    assert row == ["hours", "0.500", "0.625", "± 0.250", "ok"]


def test_sampling_bound_grows_with_connections() -> None:
    assert Sampling(10, slack_seconds=0).bound_hours(36) == 0.1
