"""Turns catalog rows into the plain values that pricing takes; no other module knows both."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from controlplane.core.errors import Unavailable
from plans.catalog import publishing
from plans.models import AddressPlan, CatalogueVersion, Plan, SpacePlan
from plans.rating.money import Rounding
from plans.rating.month_so_far import MonthSoFar
from plans.rating.periods import Period
from plans.rating.pricing import PriceRule, Segment, SellerRule, Tier
from plans.usage import meters
from plans.usage.meters import LIFETIMES, SPACE_HOURS, Model

TITLES = {meter.slug: meter.line_title for meter in meters.REGISTRY if meter.line_title}


@dataclass(frozen=True)
class PinnedSeller:
    """The selling legal entity of one catalog version; ``printed`` goes on invoices."""

    key: str
    rule: SellerRule
    printed: Mapping[str, str]
    payment_days: int
    catalogue_number: int


def seller(catalogue_number: int | None = None) -> PinnedSeller:
    """Return the seller of a catalog version, by default of the newest one.

    Raises:
        Unavailable: no catalog is published.
    """
    number = catalogue_number or _newest_catalog()
    found = publishing.seller(number)
    rule = SellerRule(found.currency, Rounding(found.rounding), found.tax_percent)
    printed = {
        "name": found.name,
        "address": found.address,
        "country": found.country,
        "tax_id": found.tax_id,
    }
    return PinnedSeller(found.key, rule, printed, found.payment_days, number)


def segment(plan: Plan, span: Period, *, runs_on: bool) -> Segment:
    """Return the segment of a plan version over ``span``: fee and price rules, without usage."""
    found = publishing.plan_definition(plan)
    rules = tuple(
        _rule(meter, price, found.included.get(meter, 0))
        for meter, price in sorted(found.prices.items())
    )
    return Segment(
        span,
        plan.key,
        plan.version,
        plan.title,
        found.monthly_fee_minor,
        rules,
        included_hours={
            meter: found.included[meter] for meter in LIFETIMES if meter in found.included
        },
        runs_on=runs_on,
    )


def month_so_far(plain: Mapping[str, Any]) -> MonthSoFar:
    """Return the state of a month from its JSON form in a document; plans come from their rows."""
    return MonthSoFar.from_plain(plain, _segment_of)


def _segment_of(key: str, version: int, span: Period) -> Segment:
    return segment(Plan.objects.get(key=key, version=version), span, runs_on=False)


def hours(meter: str, key: str, version: int) -> tuple[str, Decimal]:
    """Return the line title and hourly price (zero: free) of a space or address plan version."""
    if meter == SPACE_HOURS:
        space_plan = SpacePlan.objects.get(key=key, version=version)
        price = publishing.space_plan_definition(space_plan).hour_price
        return f"Space hours, {space_plan.title}", price
    address_plan = AddressPlan.objects.get(key=key, version=version)
    price = publishing.address_plan_definition(address_plan).hour_price
    return f"Address hours, {address_plan.title}", price


def _newest_catalog() -> int:
    number = CatalogueVersion.objects.order_by("-number").values_list("number", flat=True).first()
    if number is None:
        raise Unavailable("No catalog is published: run `waypost catalog publish`.")
    return number


def _rule(meter: str, price: publishing.MeterPrice, included: int) -> PriceRule:
    return PriceRule(
        meter,
        TITLES.get(meter, meter),
        Model(price.model),
        price.unit,
        price.base_per_unit,
        tuple(Tier(tier.up_to, tier.unit_price) for tier in price.tiers),
        included,
        is_peak=meters.BY_SLUG[meter].kind is meters.Kind.PEAK,
    )
