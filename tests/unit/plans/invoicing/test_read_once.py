"""What is read of the catalog is kept inside of a batch only."""

import pytest

from plans.invoicing import read_once

calls: list[tuple[int, str]] = []


@read_once.read_once
def row(number: int, *, name: str = "") -> tuple[int, str]:
    calls.append((number, name))
    if number < 0:
        raise ValueError("no such row")
    return number, name


def test_equal_arguments_are_read_once_inside_and_each_time_outside() -> None:
    calls.clear()
    with read_once.kept():
        assert [row(1), row(1), row(2), row(1, name="a"), row(1, name="a")] == [
            (1, ""), (1, ""), (2, ""), (1, "a"), (1, "a"),
        ]  # fmt: skip
    assert calls == [(1, ""), (2, ""), (1, "a")]

    row(1)
    row(1)
    with read_once.kept():
        row(1)
    assert calls[3:] == [(1, "")] * 3


def test_an_error_is_not_kept() -> None:
    calls.clear()
    with read_once.kept():
        for _ in range(2):
            with pytest.raises(ValueError, match="no such row"):
                row(-1)
    assert len(calls) == 2
