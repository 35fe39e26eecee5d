"""What a permission's pattern opens."""

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
