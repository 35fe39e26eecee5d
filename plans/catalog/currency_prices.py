"""Checks that a catalog with several currencies has a price of everything in each of them. Pure.

``parsing`` calls it, after the schemas have accepted each value.
"""

from collections.abc import Iterator
from typing import Any

from plans.catalog.definitions import Catalog, PlanDefinition
from plans.catalog.yaml_document import Path


def mistakes(catalog: Catalog) -> Iterator[tuple[Path, str]]:
    """Yield (path, reason) of each seller, plan and price that does not fit the currencies.

    What is free of charge needs no price in any currency.
    """
    main, *others = catalog.currencies
    keys = [row.key for row in catalog.sellers]
    for row in catalog.sellers:
        if keys.count(row.key) > 1 and row is not catalog.seller:
            yield ("sellers", row.key), "has the key of the main seller: choose another one"
        if len(set(row.currencies)) < len(row.currencies):
            # Only the main seller has a section of its own.
            of_seller: Path = ("seller",) if row is catalog.seller else ("sellers", row.key)
            yield (*of_seller, "other_currencies"), "names a currency twice"
    for plan in catalog.plans:
        yield from _of_plan(plan, main, others)
    for section, rows in (
        ("space_plans", catalog.space_plans),
        ("address_plans", catalog.address_plans),
    ):
        for priced in rows:
            path = (section, priced.key, "hour_prices")
            yield from _unsold(path, priced.hour_prices, main, others)
            if priced.hour_price:
                missing = [c for c in others if c not in priced.hour_prices]
                yield from ((path[:2], _lacks(c)) for c in missing)


def complete(document: dict[str, Any]) -> None:
    """Add the price in the main currency to each ``hour_prices`` of a canonical document.

    So a stored plan names the currency of each of its prices.
    """
    main = document["seller"]["currency"]
    for section in ("space_plans", "address_plans"):
        for plan in document[section].values():
            if "hour_prices" in plan:
                plan["hour_prices"] = {**plan["hour_prices"], main: plan["hour_price"]}


def _of_plan(plan: PlanDefinition, main: str, others: list[str]) -> Iterator[tuple[Path, str]]:
    path = ("plans", plan.key, "currencies")
    yield from _unsold(path, plan.currencies, main, others)
    for currency in others:
        found = plan.currencies.get(currency)
        if found is None and not plan.is_free:
            yield path[:2], _lacks(currency)
        if found is not None and found.prices.keys() != plan.prices.keys():
            names = ", ".join(sorted(plan.prices)) or "none"
            yield (*path, currency), f"must price the meters of the plan: {names}"


def _unsold(path: Path, prices: Any, main: str, others: list[str]) -> Iterator[tuple[Path, str]]:
    for currency in prices:
        if currency == main:
            yield (*path, currency), "is the main currency: its prices stand in the plan itself"
        elif currency not in others:
            yield (*path, currency), f"is a currency in which no seller sells: {currency}"


def _lacks(currency: str) -> str:
    return f"has no price in {currency}, in which a seller of this catalog sells"
