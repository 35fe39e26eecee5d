"""Which configured name covers an address, which permission covers an attach."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.messaging import patterns
from workers.services.devrouter import matching
from workers.services.devrouter.matching import PatternTable


def table(*names: str) -> PatternTable[str]:
    made: PatternTable[str] = PatternTable()
    for name in names:
        assert made.add(matching.tokens(name), name)
    return made


@pytest.mark.parametrize(
    ("address", "found"),
    [
        ("a", "a"),
        ("a/b", "a/b"),
        ("a/c", "a/*"),
        ("a/c/d", "a/#"),
        ("ab", "#"),
        ("/a", "a"),
        ("a.b", "a/b"),
    ],
)
def test_find_takes_the_most_specific_pattern(address: str, found: str) -> None:
    assert table("#", "a/#", "a/*", "a/b", "a").find(address) == found


def test_find_knows_nothing_of_other_names() -> None:
    assert table("a/b").find("a/bc") is None
    assert table("a/b").find("a") is None


def test_a_prefix_covers_itself_and_whole_tokens_below() -> None:
    made: PatternTable[str] = PatternTable()
    made.add(matching.of_prefix("a"), "a")

    assert [made.find(each) for each in ("a", "a/b/c", "ab")] == ["a", "a", None]


def test_the_same_pattern_is_taken_once() -> None:
    made = table("a/b")

    assert not made.add(matching.tokens("a.b"), "other")
    assert made.find("a/b") == "a/b"


@pytest.mark.parametrize(
    ("pattern", "address", "is_open"),
    [
        ("a/#", "a", True),
        ("a/#", "a/b/c", True),
        ("a/#", "ab", False),
        ("a/*", "a/b", True),
        ("a/*", "a/b/c", False),
        ("a/*", "a/#", False),
        ("a/*/#", "a/#", False),
        ("a/#", "a/#", True),
        ("#", "a/#", True),
        ("a/*", "a/*", True),
        ("a/b", "a/*", False),
        ("news", "news::desk", True),
        ("newspaper", "news::desk", False),
    ],
)
def test_permissions_open_what_they_say(pattern: str, address: str, is_open: bool) -> None:
    assert matching.is_permitted({pattern: ["recv"]}, "recv", address) is is_open


def test_permissions_are_for_their_operation() -> None:
    assert not matching.is_permitted({"a": ["recv"]}, "send", "a")


_LEVELS = st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=4)
_WILD = st.lists(st.sampled_from(["a", "b", "*"]), max_size=3)


@given(_WILD, st.booleans(), _LEVELS)
def test_permissions_mean_the_same_at_brokers_and_routers(
    wild: list[str], open_ended: bool, levels: list[str]
) -> None:
    pattern = "/".join([*wild, *(["#"] if open_ended or not wild else [])])
    address = "/".join(levels)

    permitted = matching.is_permitted({pattern: ["recv"]}, "recv", address)

    assert permitted == patterns.matches(pattern, address)
