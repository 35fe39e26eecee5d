"""What a catalog changes, in words."""

import copy
import json
from typing import Any

from plans.catalog import differences, parsing
from tests.support.plans import billing_rows as rows

BEFORE: dict[str, Any] = dict(parsing.parse(rows.CATALOG).document)


def changed() -> dict[str, Any]:
    return copy.deepcopy(BEFORE)


def test_equal_catalogs_differ_in_nothing() -> None:
    assert differences.between(BEFORE, changed()) == []


def test_each_value_of_a_plan_has_a_sentence() -> None:
    after = changed()
    team = after["plans"]["team"]
    team["monthly_fee_minor"] = 0
    team["included"] = {"messages": 2_000_000}
    team["prices"]["messages"]["tiers"] = [["10", "0.8"], [None, "0.4"]]
    team["quotas"] = {}
    team["space_plans"] = ["free-of-charge"]
    team["title"] = "Crew"

    (found,) = differences.between(BEFORE, after)

    graduated, unit = "graduated, up to 10: 0.8 EUR, above", "million messages"
    assert found.sentences == (
        "Monthly fee: 49.00 EUR → 0.00 EUR.",
        "Included messages: 1,000,000 → 2,000,000.",
        f"Price of messages: {graduated}: 0.5 EUR per {unit} → {graduated}: 0.4 EUR per {unit}.",
        "Limit messages per month: 1,000 → none.",
        "Also has the space plans free-of-charge.",
        "No longer has the space plans standard-small.",
        "Title: Team → Crew.",
    )


def test_new_and_retired_plans_and_the_seller_are_named() -> None:
    after = changed()
    after["plans"]["crew"] = after["plans"].pop("team")
    after["space_plans"]["standard-small"]["hour_price"] = "0.030"
    after["seller"]["payment_days"] = 30

    found = {(row.section, row.key): row for row in differences.between(BEFORE, after)}

    assert {key: row.kind for key, row in found.items()} == {
        ("seller", "seller"): "changed",
        ("plans", "crew"): "new",
        ("plans", "team"): "retired",
        ("space_plans", "standard-small"): "changed",
    }
    assert found["plans", "crew"].sentences[0] == "Monthly fee: 49.00 EUR."
    assert found["seller", "seller"].sentences == ("Payment days: 14 → 30.",)
    assert found["space_plans", "standard-small"].sentences == (
        "Price of an hour: 0.02 EUR → 0.03 EUR.",
    )


def test_without_a_catalog_everything_is_new() -> None:
    found = differences.between(None, BEFORE)

    assert {row.kind for row in found} == {"new"}
    assert len(found) == 1 + sum(len(BEFORE[section]) for section in differences.SECTIONS)
    assert json.loads(json.dumps(found[0].sentences))
