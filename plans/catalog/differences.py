"""Says in words what a catalog changes: sentences for each plan and for the main seller. Pure.

Staff read the sentences before they publish (portal, API, command). Tenants read those of their
plan in the notice about its new version. Changes of other sellers (section ``sellers``) have no
sentences.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from plans.catalog.definitions import MeterPrice
from plans.rating import money
from plans.usage import meters

Definition = Mapping[str, Any]
SECTIONS = ("plans", "space_plans", "address_plans")
_TITLES = {meter.slug: meter.title for meter in meters.REGISTRY}
_NONE = "none"


@dataclass(frozen=True)
class PlanDifference:
    """What a catalog changes about one plan, or about the main seller.

    ``sentences`` has one for each changed value; of a new plan, one for each value. ``section`` is
    the plan's section of the catalog. ``kind`` is ``new``, ``changed`` or ``retired``.
    """

    section: str
    key: str
    kind: str
    sentences: tuple[str, ...]


def between(before: Mapping[str, Any] | None, after: Mapping[str, Any]) -> list[PlanDifference]:
    """Return the differences between two canonical documents, by section and key.

    ``before`` None stands for no catalog. Plans that are equal are left out. If the main seller
    differs, it is the first entry, of section and key ``seller``.
    """
    found = []
    seller = (before or {}).get("seller", {})
    sentences = tuple(_fields(seller, after["seller"]))
    if sentences:
        found.append(PlanDifference("seller", "seller", "changed" if seller else "new", sentences))
    for section in SECTIONS:
        old, new = (before or {}).get(section, {}), after[section]
        for key in sorted({*old, *new}):
            if key not in new:
                text = "Not offered any more. What is on it keeps it."
                found.append(PlanDifference(section, key, "retired", (text,)))
            elif old.get(key) != new[key]:
                kind = "changed" if key in old else "new"
                said = of_plan(old.get(key, {}), new[key], after["seller"]["currency"])
                found.append(PlanDifference(section, key, kind, said))
    return found


def of_plan(before: Definition, after: Definition, currency: str) -> tuple[str, ...]:
    """Return a sentence for each value that differs between two definitions of one plan.

    ``before`` is empty for a new plan. ``currency`` is the currency of fee and prices.
    """
    found: list[str] = []
    if before.get("monthly_fee_minor") != after.get("monthly_fee_minor"):
        fees = (row.get("monthly_fee_minor") for row in (before, after))
        shown = (_NONE if fee is None else money.display(fee, currency) for fee in fees)
        found.append(_changed("Monthly fee", *shown))
    if before.get("hour_price") != after.get("hour_price"):
        prices = (row.get("hour_price") for row in (before, after))
        shown = (_NONE if p is None else f"{_digits(Decimal(p))} {currency}" for p in prices)
        found.append(_changed("Price of an hour", *shown))
    found += _by_meter("Included", before, after, "included")
    found += _prices(before.get("prices", {}), after.get("prices", {}), currency)
    found += _by_meter("Limit", before, after, "quotas")
    for name in ("space_plans", "address_plans"):
        label, old, new = name.replace("_", " "), before.get(name, ()), after.get(name, ())
        if added := sorted(set(new) - set(old)):
            found.append(f"Also has the {label} {', '.join(added)}.")
        if gone := sorted(set(old) - set(new)):
            found.append(f"No longer has the {label} {', '.join(gone)}.")
    # The fields that have sentences above. The values of all others are printed as they are.
    apart = {"monthly_fee_minor", "hour_price", "included", "prices", "quotas"}
    apart |= {"space_plans", "address_plans"}
    rest = [{k: v for k, v in row.items() if k not in apart} for row in (before, after)]
    return (*found, *_fields(*rest))


def _prices(before: Definition, after: Definition, currency: str) -> Iterator[str]:
    for meter in sorted({*before, *after}):
        old, new = before.get(meter), after.get(meter)
        if old != new:
            shown = (_NONE if row is None else _price(row, currency) for row in (old, new))
            yield _changed(f"Price of {_title(meter)}", *shown)


def _price(entry: Definition, currency: str) -> str:
    """Return a price in words: ``graduated, up to 10: 0.8 EUR, above: 0.5 EUR per …``."""
    price = MeterPrice.of(entry)
    tiers = [f"{_digits(tier.unit_price)} {currency}" for tier in price.tiers]
    if len(tiers) > 1:  # a single tier has no bounds
        ends = (tier.up_to for tier in price.tiers)
        bounds = ("above" if end is None else f"up to {_digits(end)}" for end in ends)
        tiers = [f"{bound}: {amount}" for bound, amount in zip(bounds, tiers, strict=True)]
    return f"{price.model}, {', '.join(tiers)} per {price.unit}"


def _by_meter(label: str, before: Definition, after: Definition, name: str) -> Iterator[str]:
    old, new = before.get(name, {}), after.get(name, {})
    for key in sorted({*old, *new}):
        if old.get(key) != new.get(key):
            shown = (_NONE if row.get(key) is None else f"{row[key]:,}" for row in (old, new))
            yield _changed(f"{label} {_title(key)}", *shown)


def _fields(before: Definition, after: Definition) -> Iterator[str]:
    for name in sorted({*before, *after}):
        old, new = before.get(name), after.get(name)
        if old != new:
            shown = (_NONE if value in (None, "") else str(value) for value in (old, new))
            yield _changed(name.replace("_", " ").capitalize(), *shown)


def _changed(label: str, before: str, after: str) -> str:
    return f"{label}: {after}." if before == _NONE else f"{label}: {before} → {after}."


def _title(key: str) -> str:
    # A quota such as ``messages_per_month`` is no meter, so it has no title in the registry.
    return _TITLES.get(key, key.replace("_", " ").replace(".", " ")).lower()


def _digits(value: Decimal) -> str:
    # ``normalize`` drops trailing zeros, but alone it would write 10 as 1E+1.
    return f"{value.normalize():f}"
