"""A catalog with several currencies prices everything in each of them."""

import copy
import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from plans.catalog import currency_prices, definitions, parsing
from plans.catalog.definitions import NotPriced
from plans.catalog.yaml_document import CatalogInvalid
from tests.support.plans import billing_rows as rows
from tests.support.plans import two_sellers


def parsed(change: Callable[[dict[str, Any]], object] = lambda _: None) -> definitions.Catalog:
    made = two_sellers.document()
    change(made)
    return parsing.parse(json.dumps(made))


def test_each_plan_has_the_prices_of_each_currency() -> None:
    catalog = parsed()

    assert catalog.currencies == ("EUR", "CHF", "USD")
    (team,) = [plan for plan in catalog.plans if plan.key == "team"]
    dollars = team.in_currency("USD")
    assert (team.currency, team.monthly_fee_minor) == ("EUR", 4900)
    assert (dollars.currency, dollars.monthly_fee_minor) == ("USD", 9800)
    assert [tier.unit_price for tier in dollars.prices["messages"].tiers] == [
        Decimal("1.60"), Decimal("1.00")]  # fmt: skip
    assert team.in_currency("EUR") is team
    with pytest.raises(NotPriced, match="no prices in JPY"):
        team.in_currency("JPY")
    (small,) = [size for size in catalog.space_plans if size.key == "standard-small"]
    assert small.in_currency("CHF").hour_price == Decimal("0.060")
    assert small.in_currency("EUR").hour_price == Decimal("0.02")
    with pytest.raises(NotPriced):
        small.in_currency("JPY")
    (queue,) = catalog.address_plans
    assert queue.in_currency("USD").hour_price == Decimal("0.002")


def test_what_is_free_needs_no_price_in_another_currency() -> None:
    def remove(made: dict[str, Any]) -> None:
        del made["plans"]["free"]["currencies"]
        del made["space_plans"]["free-of-charge"]["hour_prices"]

    catalog = parsed(remove)

    (free,) = [plan for plan in catalog.plans if plan.key == "free"]
    assert free.in_currency("USD").monthly_fee_minor == 0
    (size,) = [size for size in catalog.space_plans if size.key == "free-of-charge"]
    assert size.in_currency("USD").hour_price == 0


def test_a_catalog_with_one_currency_has_the_document_that_it_always_had() -> None:
    document = parsing.parse(rows.CATALOG).document

    assert "sellers" not in document
    assert "other_currencies" not in document["seller"]
    assert "currencies" not in document["plans"]["team"]
    assert "hour_prices" not in document["space_plans"]["standard-small"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda made: made["plans"]["team"]["currencies"].pop("USD"), "has no price in USD"),
        (lambda made: made["space_plans"]["standard-small"].pop("hour_prices"), "no price in CHF"),
        (
            lambda made: made["plans"]["team"]["currencies"]["USD"].update(prices={}),
            "must price the meters of the plan: messages",
        ),
        (
            lambda made: made["plans"]["team"]["currencies"].update(
                JPY={"monthly_fee_minor": 1, "prices": {}}
            ),
            "in which no seller sells: JPY",
        ),
        (
            lambda made: made["space_plans"]["standard-small"]["hour_prices"].update(EUR="1"),
            "is the main currency",
        ),
        (lambda made: made["sellers"].update(wp=two_sellers.OTHER_SELLER), "key of the main"),
        (
            lambda made: made["seller"].update(other_currencies=["CHF", "EUR"]),
            "names a currency twice",
        ),
        (lambda made: made["sellers"]["wp-inc"].pop("name"), "name"),
        (lambda made: made["plans"]["team"]["currencies"]["USD"].update(fee=1), "fee"),
    ],
)
def test_a_mistake_is_named(change: Callable[[dict[str, Any]], object], reason: str) -> None:
    with pytest.raises(CatalogInvalid, match=reason):
        parsed(change)


@pytest.mark.parametrize(
    ("change", "path"),
    [
        (
            lambda made: made["seller"].update(other_currencies=["CHF", "EUR"]),
            ("seller", "other_currencies"),
        ),
        (
            lambda made: made["sellers"]["wp-inc"].update(other_currencies=["USD"]),
            ("sellers", "wp-inc", "other_currencies"),
        ),
        (
            lambda made: made["sellers"].update(wp=dict(made["sellers"]["wp-inc"])),
            ("sellers", "wp"),
        ),
    ],
)
def test_a_mistake_of_a_seller_is_reported_once_in_its_own_section(
    change: Callable[[dict[str, Any]], object], path: tuple[str, ...]
) -> None:
    document = copy.deepcopy(dict(parsed().document))
    change(document)

    found = currency_prices.mistakes(definitions.from_document(document))

    assert [where for where, _ in found if where[0] in {"seller", "sellers"}] == [path]
