"""What the client of a broker's management takes refusals for."""

from collections.abc import Sequence
from typing import Any

import pytest

from workers.messaging.management import ManagementClient, Refused, Request, Unreachable

_ASKED = [Request("broker", "listQueues")]
_REFUSAL = Refused("not started")


class Scripted(ManagementClient):
    """Gives the answers that it is made with, one for each window of requests."""

    def __init__(self, *windows: Sequence[Any]) -> None:
        self._windows = list(windows)

    def _window(self, requests: Sequence[Request]) -> list[Any]:
        answers = list(self._windows.pop(0))
        assert len(answers) == len(requests)
        return answers


@pytest.mark.parametrize("started", [True, Refused("no right to ask")])
def test_a_broker_that_runs_refuses_in_its_own_words(started: object) -> None:
    assert Scripted([_REFUSAL], [started]).try_all(_ASKED) == [_REFUSAL]
    with pytest.raises(Refused, match="not started"):
        Scripted([_REFUSAL], [started]).ask(_ASKED)


def test_one_that_is_about_to_end_is_unreachable() -> None:
    with pytest.raises(Unreachable, match="not started"):
        Scripted([_REFUSAL], [False]).try_all(_ASKED)


def test_a_refusal_counts_wherever_it_comes() -> None:
    many = _ASKED * 51

    with pytest.raises(Unreachable):
        Scripted([0] * 50, [_REFUSAL], [False]).try_all(many)


def test_where_nothing_is_refused_nothing_more_is_asked() -> None:
    assert Scripted(["[]"]).try_all(_ASKED) == ["[]"]
