"""A broker computes the age of a message without a creation time from the year 1970."""

from collections.abc import Sequence
from typing import Any

import pytest

from workers.messaging.brokers import snapshot
from workers.messaging.management import ManagementClient, Request

NOW_SECONDS = 1_795_910_980  # in November 2026


class Answering(ManagementClient):
    """Answers each read of an attribute with a value from ``values``."""

    def __init__(self, **values: int) -> None:
        self._values = values

    def try_all(self, requests: Sequence[Request]) -> list[Any]:
        return [self._values[one.attribute] for one in requests]


def ages(age_ms: int) -> dict[str, int]:
    client = Answering(PersistentSize=700, FirstMessageAge=age_ms)
    sizes, found = snapshot._Reading(client).sizes_and_ages(
        [{"name": "orders", "messageCount": "1"}]
    )
    assert sizes == {"orders": 700}
    return dict(found)


@pytest.mark.parametrize("created_at_ms", [0, NOW_SECONDS], ids=["none", "in seconds"])
def test_an_age_since_1970_is_not_known(created_at_ms: int) -> None:
    assert ages(NOW_SECONDS * 1000 - created_at_ms) == {}


def test_an_age_of_years_is_known() -> None:
    years = 10 * 365 * 24 * 3600 * 1000
    assert ages(years) == {"orders": years}
