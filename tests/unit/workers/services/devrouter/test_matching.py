"""Which configured name covers an address, which permission covers an attach."""

import pytest

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

    assert [made.find(address) for address in ("a", "a/b/c", "ab")] == ["a", "a", None]


def test_the_same_pattern_is_taken_once() -> None:
    made = table("a/b")

    assert not made.add(matching.tokens("a.b"), "other")
    assert made.find("a/b") == "a/b"


@pytest.mark.parametrize(
    ("names", "address", "is_open"),
    [
        ("a/b", "a/b", True),
        ("a/b", "a/bc", False),
        ("a/*", "a/b/c", True),
        ("a/*", "ab", False),
        ("*", "$management", False),
        ("#", "a", False),
        ("a,b", "b", True),
        ("a,b", "a,b", False),
        ("news", "news::desk", False),
    ],
)
def test_permissions_are_read_as_dispatch_reads_them(
    names: str, address: str, is_open: bool
) -> None:
    assert matching.is_permitted({names: ["recv"]}, "recv", address) is is_open


def test_permissions_are_for_their_operation() -> None:
    assert not matching.is_permitted({"a": ["recv"]}, "send", "a")
