"""Says in words what a catalog changes: sentences for each plan and for each seller. Pure.

Staff read the sentences before they publish (portal, API, command). Tenants read those of their
plan in the notice about its new version.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from plans.catalog import price_texts
from plans.catalog.definitions import MeterPrice
from plans.quotas.resources import quantity_words, words
from plans.rating import money
from plans.usage import meters

Definition = Mapping[str, Any]
SECTIONS = ("plans", "space_plans", "address_plans")
_TITLES = {meter.slug: meter.title for meter in meters.REGISTRY}
_NONE = "none"


@dataclass(frozen=True)
class PlanDifference:
    """What a catalog changes about one plan or one seller.

    ``sentences`` has one for each changed value; of a new plan or seller, one for each value.
    ``section`` is its section of the catalog. ``kind`` is ``new``, ``changed`` or ``retired``.
    """

    section: str
    key: str
    kind: str
    sentences: tuple[str, ...]


def between(before: Mapping[str, Any] | None, after: Mapping[str, Any]) -> list[PlanDifference]:
    """Return the differences between two canonical documents, by section and key.

    ``before`` None stands for no catalog. Plans that are equal are left out. If the main seller
    differs, it is the first entry, of section and key ``seller``. The other sellers follow it.
    """
    found = []
    seller = (before or {}).get("seller", {})
    sentences = tuple(_fields(seller, after["seller"]))
    if sentences:
        found.append(PlanDifference("seller", "seller", "changed" if seller else "new", sentences))
    found += _other_sellers(before or {}, after)
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


def _other_sellers(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[PlanDifference]:
    """Yield the differences of the section ``sellers``, by key."""
    old, new = before.get("sellers", {}), after.get("sellers", {})
    former_main = dict(before.get("seller", {}))
    former_key = former_main.pop("key", None)
    for key in sorted({*old, *new}):
        if key not in new:
            is_main = key == after["seller"]["key"]
            text = "Is the main seller now." if is_main else "Does not sell any more."
            yield PlanDifference("sellers", key, "changed" if is_main else "retired", (text,))
        elif key in old:
            if sentences := tuple(_fields(old[key], new[key])):
                yield PlanDifference("sellers", key, "changed", sentences)
        elif key == former_key:
            sentences = ("Is not the main seller any more.", *_fields(former_main, new[key]))
            yield PlanDifference("sellers", key, "changed", sentences)
        else:
            yield PlanDifference("sellers", key, "new", tuple(_fields({}, new[key])))


def of_plan(before: Definition, after: Definition, currency: str) -> tuple[str, ...]:
    """Return a sentence for each value that differs between two definitions of one plan.

    ``before`` is empty for a new plan. ``currency`` is the currency of fee and prices, the main
    one of the catalog. Fees and prices in other currencies follow those in it.
    """
    found = [
        *_fee(before, after, currency),
        *_hour_price(before.get("hour_price"), after.get("hour_price"), currency),
        *_included(before.get("included", {}), after.get("included", {})),
        *_prices(before.get("prices", {}), after.get("prices", {}), currency),
        *_in_other_currencies(before, after, currency),
    ]
    found += _limits(before.get("quotas", {}), after.get("quotas", {}))
    for name in ("space_plans", "address_plans"):
        label, old, new = name.replace("_", " "), before.get(name, ()), after.get(name, ())
        if added := sorted(set(new) - set(old)):
            found.append(f"Also has the {label} {', '.join(added)}.")
        if gone := sorted(set(old) - set(new)):
            found.append(f"No longer has the {label} {', '.join(gone)}.")
    # The fields that have sentences above. The values of all others are printed as they are.
    apart = {"monthly_fee_minor", "hour_price", "included", "prices", "quotas"}
    apart |= {"space_plans", "address_plans", "currencies", "hour_prices"}
    rest = [{k: v for k, v in row.items() if k not in apart} for row in (before, after)]
    return (*found, *_fields(*rest))


def _in_other_currencies(before: Definition, after: Definition, main: str) -> Iterator[str]:
    """Yield the sentences about ``currencies`` and ``hour_prices``, by currency.

    ``hour_prices`` also has the price in the currency ``main``, which ``hour_price`` repeats.
    """
    old, new = before.get("currencies", {}), after.get("currencies", {})
    for currency in sorted({*old, *new}):
        was, now = old.get(currency, {}), new.get(currency, {})
        yield from _fee(was, now, currency)
        yield from _prices(was.get("prices", {}), now.get("prices", {}), currency)
    old, new = before.get("hour_prices", {}), after.get("hour_prices", {})
    for currency in sorted({*old, *new} - {main}):
        yield from _hour_price(old.get(currency), new.get(currency), currency)


def _fee(before: Definition, after: Definition, currency: str) -> Iterator[str]:
    fees = [row.get("monthly_fee_minor") for row in (before, after)]
    if fees[0] != fees[1]:
        shown = (_NONE if fee is None else money.display(fee, currency) for fee in fees)
        yield _changed("Monthly fee", *shown)


def _hour_price(before: str | None, after: str | None, currency: str) -> Iterator[str]:
    if before != after:
        shown = (
            _NONE if price is None else f"{price_texts.figure(Decimal(price), currency)} {currency}"
            for price in (before, after)
        )
        yield _changed("Price of an hour", *shown)


def _prices(before: Definition, after: Definition, currency: str) -> Iterator[str]:
    for meter in sorted({*before, *after}):
        old, new = before.get(meter), after.get(meter)
        if old != new:
            shown = [_price(meter, row, currency) for row in (old, new)]
            if old and new and shown[0] == shown[1]:  # one tier, once graduated and once per unit
                shown = [f"{shown[0]} ({_counting(row)})" for row in (old, new)]
            yield _changed(f"Price of {_title(meter)}", *shown)


def _price(meter: str, entry: Definition | None, currency: str) -> str:
    return price_texts.in_full(meter, MeterPrice.of(entry), currency) if entry else _NONE


def _counting(entry: Definition) -> str:
    return f"{entry['model']}, one unit is {entry['base_per_unit']:,}"


def _included(before: Mapping[str, int], after: Mapping[str, int]) -> Iterator[str]:
    for meter in sorted({*before, *after}):
        old, new = before.get(meter), after.get(meter)
        if old != new:
            shown = (_NONE if n is None else price_texts.amount(meter, n) for n in (old, new))
            yield _changed(f"Included {_title(meter)}", *shown)


def _limits(before: Mapping[str, int], after: Mapping[str, int]) -> Iterator[str]:
    for resource in sorted({*before, *after}):
        old, new = before.get(resource), after.get(resource)
        if old != new:
            shown = (_NONE if n is None else quantity_words(resource, n) for n in (old, new))
            yield _changed(f"Limit of {words(resource)}", *shown)


def _fields(before: Definition, after: Definition) -> Iterator[str]:
    for name in sorted({*before, *after}):
        old, new = before.get(name), after.get(name)
        if old != new:
            shown = (_value(value) for value in (old, new))
            yield _changed(name.replace("_", " ").capitalize(), *shown)


def _value(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or _NONE
    return _NONE if value in (None, "") else str(value)


def _changed(label: str, before: str, after: str) -> str:
    return f"{label}: {after}." if before == _NONE else f"{label}: {before} → {after}."


def _title(key: str) -> str:
    return _TITLES[key].lower()
