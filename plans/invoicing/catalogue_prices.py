"""Turns catalogue rows into the plain values that pricing takes. The only place that knows both."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from controlplane.core.errors import Unavailable
from plans import catalog, meters
from plans.meters import LIFETIMES, SPACE_HOURS, Model
from plans.models import AddressPlan, CatalogueVersion, Plan, SpacePlan
from plans.money import Rounding
from plans.month_so_far import MonthSoFar
from plans.periods import Period
from plans.pricing import PriceRule, Segment, SellerRule, Tier

TITLES = {
    "messages": "Messages, in and out",
    meters.MESSAGES_IN: "Messages in",
    meters.MESSAGES_OUT: "Messages out",
    meters.CONNECTIONS_OPENED: "Connections opened",
    meters.CONNECTION_MS: "Connection time",
    meters.PEAK_CONNECTIONS: "Peak connections",
    meters.STORED_BYTE_MS: "Stored messages",
}


@dataclass(frozen=True)
class PinnedSeller:
    """The selling legal entity as one catalogue version names it; ``printed`` goes on invoices."""

    key: str
    rule: SellerRule
    printed: Mapping[str, str]
    payment_days: int
    catalogue_number: int


def seller(catalogue_number: int | None = None) -> PinnedSeller:
    """Return the seller of a catalogue version, the newest by default.

    Raises:
        Unavailable: no catalogue is published.
    """
    number = catalogue_number or _newest_catalogue()
    found = catalog.seller(number)
    rule = SellerRule(found.currency, Rounding(found.rounding), found.tax_percent)
    printed = {
        "name": found.name,
        "address": found.address,
        "country": found.country,
        "tax_id": found.tax_id,
    }
    return PinnedSeller(found.key, rule, printed, found.payment_days, number)


def segment(plan: Plan, span: Period, *, runs_on: bool) -> Segment:
    """Return the span of a plan version with its fee and price rules, still without meters."""
    found = catalog.plan_definition(plan)
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
    """Return a state of a month as a document keeps it, with the prices of its plans."""
    return MonthSoFar.from_plain(plain, _segment_of)


def _segment_of(key: str, version: int, span: Period) -> Segment:
    return segment(Plan.objects.get(key=key, version=version), span, runs_on=False)


def hours(meter: str, key: str, version: int) -> tuple[str, Decimal]:
    """Return the title and the price (zero: none) of an hour on one plan version."""
    if meter == SPACE_HOURS:
        space_plan = SpacePlan.objects.get(key=key, version=version)
        price = catalog.space_plan_definition(space_plan).hour_price
        return f"Space hours, {space_plan.title}", price
    address_plan = AddressPlan.objects.get(key=key, version=version)
    price = catalog.address_plan_definition(address_plan).hour_price
    return f"Address hours, {address_plan.title}", price


def _newest_catalogue() -> int:
    number = CatalogueVersion.objects.order_by("-number").values_list("number", flat=True).first()
    if number is None:
        raise Unavailable("No catalogue is published: run `waypost catalog publish`.")
    return number


def _rule(meter: str, price: catalog.MeterPrice, included: int) -> PriceRule:
    return PriceRule(
        meter,
        TITLES.get(meter, meter),
        Model(price.model),
        price.unit,
        price.base_per_unit,
        tuple(Tier(tier.up_to, tier.unit_price) for tier in price.tiers),
        included,
        is_peak=meter == meters.PEAK_CONNECTIONS,
    )
