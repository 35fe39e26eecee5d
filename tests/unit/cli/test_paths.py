"""A name that a person types is one segment of the API's path, whatever is in it."""

import pytest

from controlplane.core.errors import Invalid
from controlplane.rest_client import segment


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("orders", "orders"),
        ("orders/new", "orders%2Fnew"),
        ("../../victim", "..%2F..%2Fvictim"),
        ("q1?x=y", "q1%3Fx%3Dy"),
        ("a#b", "a%23b"),
        ("%2e%2e", "%252e%252e"),
        ("größe", "gr%C3%B6%C3%9Fe"),
    ],
)
def test_a_name_leads_nowhere_else(name: str, path: str) -> None:
    assert segment(name) == path


@pytest.mark.parametrize("name", ["", ".", ".."])
def test_steps_within_paths_are_no_names(name: str) -> None:
    with pytest.raises(Invalid) as refused:
        segment(name)

    assert refused.value.error_code == "name.invalid"
