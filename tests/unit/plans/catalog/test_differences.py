"""What a catalog changes, in words."""

import copy
import json
from typing import Any

from plans.catalog import differences, parsing
from plans.catalog.differences import PlanDifference
from tests.support.plans import billing_rows as rows
from tests.support.plans import two_sellers

BEFORE: dict[str, Any] = dict(parsing.parse(rows.CATALOG).document)
SEVERAL: dict[str, Any] = dict(parsing.parse(json.dumps(two_sellers.document())).document)


def changed() -> dict[str, Any]:
    return copy.deepcopy(BEFORE)


def test_equal_catalogs_differ_in_nothing() -> None:
    assert differences.between(BEFORE, changed()) == []


def test_each_value_of_a_plan_has_a_sentence() -> None:
    after = changed()
    team = after["plans"]["team"]
    team["monthly_fee_minor"] = 0
    team["included"] = {"messages": 2_000_000, "connection_ms": 36_000_000_000}
    team["prices"]["messages"]["tiers"] = [["10", "0.8"], [None, "0.4"]]
    team["quotas"] = {"connection_ms_per_month": 180_000_000}
    team["space_plans"] = ["free-of-charge"]
    team["title"] = "Crew"

    (found,) = differences.between(BEFORE, after)

    graduated = "up to 10 million billed messages: 0.80 EUR per million, above"
    assert found.sentences == (
        "Monthly fee: 49.00 EUR → 0.00 EUR.",
        "Included connection time: 10,000 connection-hours.",
        "Included messages: 1 million messages → 2 million messages.",
        f"Price of messages: {graduated}: 0.50 EUR → {graduated}: 0.40 EUR.",
        "Limit of connection hours a month: 50.",
        "Limit of messages a month: 1,000 → none.",
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


def test_another_seller_has_a_sentence_for_each_value() -> None:
    after = copy.deepcopy(SEVERAL)
    after["sellers"]["wp-inc"] |= {"tax_percent": "7", "other_currencies": ["CAD", "MXN"]}

    assert differences.between(SEVERAL, after) == [
        PlanDifference(
            "sellers",
            "wp-inc",
            "changed",
            ("Other currencies: CAD, MXN.", "Tax percent: 6.25 → 7."),
        )
    ]


def test_sellers_come_and_go() -> None:
    after = copy.deepcopy(SEVERAL)
    after["sellers"]["wp-ltd"] = after["sellers"].pop("wp-inc")

    gone, new = differences.between(SEVERAL, after)

    assert gone == PlanDifference("sellers", "wp-inc", "retired", ("Does not sell any more.",))
    assert (new.section, new.key, new.kind) == ("sellers", "wp-ltd", "new")
    assert "Currency: USD." in new.sentences


def test_the_main_seller_changes_places_with_another() -> None:
    after = copy.deepcopy(SEVERAL)
    main, other = after["seller"], after["sellers"].pop("wp-inc")
    after["seller"] = {**other, "key": "wp-inc"}
    after["sellers"]["wp"] = {name: value for name, value in main.items() if name != "key"}

    found = {row.key: row for row in differences.between(SEVERAL, after)}

    assert found["wp"] == PlanDifference(
        "sellers", "wp", "changed", ("Is not the main seller any more.",)
    )
    assert found["wp-inc"].sentences == ("Is the main seller now.",)
    assert "Key: wp → wp-inc." in found["seller"].sentences


def test_prices_in_other_currencies_have_sentences_of_their_own() -> None:
    after = copy.deepcopy(SEVERAL)
    dollars = after["plans"]["team"]["currencies"]["USD"]
    dollars["monthly_fee_minor"] = 9900
    dollars["prices"]["messages"]["tiers"] = [[None, "1.5"]]
    after["space_plans"]["standard-small"]["hour_prices"] = {"EUR": "0.02", "USD": "0.05"}

    found = {row.key: row.sentences for row in differences.between(SEVERAL, after)}

    before = "up to 10 million billed messages: 1.60 USD per million, above: 1.00 USD"
    assert found["team"] == (
        "Monthly fee: 98.00 USD → 99.00 USD.",
        f"Price of messages: {before} → 1.50 USD per million messages.",
    )
    assert found["standard-small"] == (
        "Price of an hour: 0.06 CHF → none.",
        "Price of an hour: 0.04 USD → 0.05 USD.",
    )


def test_prices_in_the_same_words_say_how_they_count() -> None:
    after = changed()
    before = changed()
    before["plans"]["team"]["prices"]["messages"]["tiers"] = [[None, "0.5"]]
    after["plans"]["team"]["prices"]["messages"] |= {"tiers": [[None, "0.5"]], "model": "unit"}

    (found,) = differences.between(before, after)

    each, counts = "0.50 EUR per million messages", "one unit is 1,000,000"
    assert found.sentences == (
        f"Price of messages: {each} (graduated, {counts}) → {each} (unit, {counts}).",
    )


def test_no_sentence_shows_a_value_of_python() -> None:
    found = differences.between(BEFORE, SEVERAL)

    sentences = [sentence for row in found for sentence in row.sentences]
    assert "Other currencies: CHF." in sentences
    assert "Monthly fee: 147.00 CHF." in sentences
    assert not any(mark in sentence for sentence in sentences for mark in "{}[]'")
