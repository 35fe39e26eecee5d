"""What a permission's pattern opens, and which filters it covers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.messaging import patterns

level = st.text(alphabet="ab.$-é", min_size=1, max_size=4)
address = st.lists(level, min_size=1, max_size=4).map("/".join)


@pytest.mark.parametrize(
    ("pattern", "name", "opens"),
    [
        ("a/#", "a/b", True),
        ("a/#", "a/b/c", True),
        ("a/#", "a", True),
        ("a/#", "ab", False),
        ("a/#", "ab/c", False),
        ("a/*", "a/b", True),
        ("a/*", "a/b/c", False),
        ("a/*", "a", False),
        ("*", "a", True),
        ("*", "a/b", False),
        ("*/b", "a/b", True),
        ("*/#", "a/b/c", True),
        ("#", "anything/at/all", True),
        ("a", "a", True),
        ("a", "A", False),
        ("a.b", "axb", False),
        ("#/a", "x/a", False),
        ("", "a", False),
    ],
)
def test_pattern_opens_exactly_this(pattern: str, name: str, opens: bool) -> None:
    assert patterns.matches(pattern, name) is opens


@given(address)
def test_an_address_opens_itself(name: str) -> None:
    assert patterns.matches(name, name)


@given(address, address)
def test_the_rest_opens_only_below(prefix: str, name: str) -> None:
    is_below = name == prefix or name.startswith(f"{prefix}/")

    assert patterns.matches(f"{prefix}/#", name) is is_below


@given(address, address)
def test_a_pattern_without_wildcards_opens_nothing_else(one: str, other: str) -> None:
    assert patterns.matches(one, other) is (one == other)


wild = st.lists(st.one_of(st.just("*"), level), min_size=1, max_size=3).map("/".join)
pattern = st.one_of(st.just("#"), wild, wild.map(lambda text: f"{text}/#"))


@given(pattern, pattern, address)
def test_who_covers_a_filter_may_read_all_that_it_matches(own: str, wanted: str, name: str) -> None:
    if patterns.covers(own, wanted) and patterns.matches(wanted, name):
        assert patterns.matches(own, name)


def witnesses(own: str, wanted: str) -> list[str]:
    """Return names that ``wanted`` matches: if ``own`` misses any, it misses one of these."""
    strange = "strange"  # a level that no pattern of these tests names
    named = [strange if level == "*" else level for level in wanted.split("/")]
    if named[-1] != "#":
        return ["/".join(named)]
    depth = len(own.split("/")) + 1
    stems = [[*named[:-1], *[strange] * more] for more in range(depth + 1)]
    return ["/".join(stem) for stem in stems if stem]


@given(pattern, pattern)
def test_a_filter_that_is_not_covered_matches_more(own: str, wanted: str) -> None:
    names = witnesses(own, wanted)

    assert all(patterns.matches(wanted, name) for name in names)
    assert patterns.covers(own, wanted) is all(patterns.matches(own, name) for name in names)


@given(pattern)
def test_a_pattern_covers_itself(own: str) -> None:
    assert patterns.covers(own, own)
    assert patterns.covers("#", own)


@given(pattern, address)
def test_a_pattern_covers_the_names_that_it_matches(own: str, name: str) -> None:
    assert patterns.covers(own, name) is patterns.matches(own, name)


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        ("news/#", True),
        ("news/*", True),
        ("#", True),
        ("*", True),
        ("*/eu/*", True),
        ("*/#", True),
        ("news", False),
        ("", False),
        ("news/#/eu", False),
        ("ne*s/#", False),
        ("news/+", False),
        ("a b/#", False),
        ("$waypost.probe.*", False),
        ("$waypost/#", False),
        ("activemq.x/#", False),
        ("x" * 253 + "/#", True),
        ("x" * 254 + "/#", False),
    ],
)
def test_what_is_a_filter(name: str, is_one: bool) -> None:
    assert patterns.is_filter(name) is is_one
