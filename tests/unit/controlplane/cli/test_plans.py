"""`waypost plans`: what usage costs on a plan, tier by tier."""

import json
from typing import Any

import pytest

from controlplane.core.errors import Missing
from plans.catalog import parsing
from tests.support.plans import two_sellers
from tests.unit.controlplane.cli.conftest import Run


@pytest.fixture
def offered(answers: dict[str, Any]) -> dict[str, Any]:
    """The definition of the plan ``team``, which the API offers."""
    document = parsing.parse(json.dumps(two_sellers.document())).document
    team: dict[str, Any] = document["plans"]["team"]
    offer = {"key": "team", "version": 1, "title": "Team", "definition": team}
    answers["/plans"] = {"items": [offer], "next": None}
    return team


def test_prices_lists_every_tier_in_each_currency(offered: dict[str, Any], run: Run) -> None:
    found = json.loads(run("plans", "prices", "team", "-o", "json").stdout)

    messages = [row for row in found if row["meter"] == "messages" and row["currency"] == "USD"]
    assert [(row["usage"], row["price"]) for row in messages] == [
        ("the first 1 million messages", "included"),
        ("the next 10 million messages", "1.60 USD per million messages"),
        ("all further messages", "1.00 USD per million messages"),
    ]
    assert {row["currency"] for row in found} == {"EUR", *offered["currencies"]}


def test_a_meter_of_a_newer_server_is_not_left_out(offered: dict[str, Any], run: Run) -> None:
    offered["prices"] = {"unheard_of": {}}

    assert "unheard_of" in run("plans", "prices", "team").stdout


def test_an_unknown_plan_is_refused(offered: dict[str, Any], run: Run) -> None:
    assert isinstance(run("plans", "prices", "gold").exception, Missing)
