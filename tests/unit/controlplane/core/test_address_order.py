"""Addresses come after those that their settings name."""

import pytest

from controlplane.core.address_order import levels


def test_an_address_comes_after_those_that_it_names() -> None:
    found = levels(
        {
            "mine": {"topic": "news", "dead_letter": ""},
            "news": {"dead_letter": "lost"},
            "lost": {"dead_letter": ""},
            "jobs": {"dead_letter": "", "expiry": "elsewhere"},
        }
    )

    assert found == {"mine": 2, "news": 1, "lost": 0, "jobs": 0}


@pytest.mark.parametrize("fields", [{}, {"dead_letter": None}])
def test_an_absent_target_is_the_default_one(fields: dict[str, None]) -> None:
    assert levels({"jobs": fields, "dead-letters": {}}) == {"jobs": 1, "dead-letters": 0}


def test_a_circle_has_an_order_too() -> None:
    found = levels({"a": {"dead_letter": "b"}, "b": {"dead_letter": "a"}})

    assert sorted(found.values()) == [0, 1]
