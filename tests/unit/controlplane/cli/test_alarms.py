"""The words in which an alarm's limits are given."""

import pytest

from controlplane.cli import alarms
from controlplane.core.errors import Invalid


def test_limits_are_a_number_and_pairs_of_a_word_and_a_number() -> None:
    assert alarms.parsed(["1000"]) == {"threshold": 1000}
    assert alarms.parsed(["1000", "for", "60", "below", "800"]) == {
        "threshold": 1000,
        "for_seconds": 60,
        "clear_below": 800,
    }


@pytest.mark.parametrize(
    "words",
    [
        ["1000", "for"],
        ["1000", "for", "soon"],
        ["1000", "after", "60"],
        ["1000", "for", "60", "for", "70"],  # not the last one of two
        ["1000", "threshold", "70"],
    ],
)
def test_other_words_are_refused_with_an_example(words: list[str]) -> None:
    with pytest.raises(Invalid, match="1000 for 60 below 800"):
        alarms.parsed(words)
