"""Pricing against vectors that were computed elsewhere, and laws over random inputs."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plans.rating import pricing
from plans.rating.billable import Lifetime, Segment, SpaceUsage
from plans.rating.money import Rounding
from plans.rating.periods import Period
from plans.rating.price_rules import PriceRule, Tier
from plans.rating.pricing import SellerRule
from plans.usage.meters import Model

MONTH = Period(datetime(2026, 4, 1, tzinfo=UTC), datetime(2026, 5, 1, tzinfo=UTC))
EUR = SellerRule("EUR", Rounding.HALF_EVEN, Decimal("19"))
TIERS = (
    Tier(Decimal(100), Decimal("1.00")),
    Tier(Decimal(1000), Decimal("0.50")),
    Tier(None, Decimal("0.10")),
)


def rule(model: Model = Model.UNIT, price: str = "1", **fields: Any) -> PriceRule:
    values: dict[str, Any] = {
        "meter": "messages",
        "title": "Messages",
        "model": model,
        "unit": "messages",
        "base_per_unit": 1,
        "tiers": (Tier(None, Decimal(price)),),
        **fields,
    }
    return PriceRule(**values)


def segment(
    quantity: int, *rules: PriceRule, fee_minor: int = 0, period: Period = MONTH
) -> Segment:
    usage = tuple(SpaceUsage("spc_a", rule.meter, quantity) for rule in rules if quantity)
    return Segment(period, "team", 3, "Team", fee_minor, rules, usage)


def priced(quantity: int, *rules: PriceRule, seller: SellerRule = EUR) -> pricing.Rating:
    return pricing.rate([segment(quantity, *rules)], [], seller, MONTH)


@pytest.mark.parametrize(
    ("quantity", "net_minor"), [(100, 10000), (101, 10050), (1000, 55000), (1001, 55010)]
)
def test_graduated_prices_each_unit_by_its_tier(quantity: int, net_minor: int) -> None:
    rating = priced(quantity, rule(Model.GRADUATED, tiers=TIERS))

    assert rating.net_minor == net_minor


@pytest.mark.parametrize(
    ("quantity", "net_minor"), [(100, 10000), (101, 5050), (1000, 50000), (1001, 10010)]
)
def test_volume_prices_all_units_by_the_last_tier(quantity: int, net_minor: int) -> None:
    rating = priced(quantity, rule(Model.VOLUME, tiers=TIERS))

    assert rating.net_minor == net_minor


def test_volume_beyond_the_last_tier_keeps_its_price() -> None:
    rating = priced(500, rule(Model.VOLUME, tiers=(Tier(Decimal(100), Decimal("2")),)))

    assert rating.net_minor == 100_000


@pytest.mark.parametrize(
    ("quantity", "net_minor"), [(0, 0), (100, 3000), (101, 6000), (1000, 30000), (1001, 33000)]
)
def test_package_counts_a_begun_package(quantity: int, net_minor: int) -> None:
    rating = priced(quantity, rule(Model.PACKAGE, "30", base_per_unit=100))

    assert rating.net_minor == net_minor


@pytest.mark.parametrize(("quantity", "net_minor"), [(0, 0), (1, 4999), (10**9, 4999)])
def test_flat_costs_the_same_however_much_is_used(quantity: int, net_minor: int) -> None:
    rating = priced(quantity, rule(Model.FLAT, "49.99"))

    assert rating.net_minor == net_minor


def test_hourly_peaks_over_730_give_the_vendors_example() -> None:
    """5,000 connections, 12 h a day, 30.5 days: 2,506.85, less 1,000 free."""
    peaks = rule(base_per_unit=730, included=1000 * 730, meter="peak_hours")

    line = priced(5000 * 12 * 61 // 2, peaks).lines[0]

    assert (line.quantity.quantize(Decimal("0.01")), line.amount_minor) == (
        Decimal("1506.85"),
        150685,
    )


def test_connection_time_is_integrated_not_sampled() -> None:
    """100 connections for 600 s, 50 until 1,800 s: 120,000 connection-seconds, 33.33 hours."""
    milliseconds = (100 * 600 + 50 * 1200) * 1000

    line = priced(milliseconds, rule(base_per_unit=3_600_000, unit="connection-hours")).lines[0]

    assert line.amount_minor == 3333
    assert line.quantity == Decimal("33.333333333333")


@pytest.mark.parametrize(
    ("rounding", "amount_minor"), [(Rounding.HALF_EVEN, 2), (Rounding.HALF_UP, 3)]
)
def test_a_line_is_rounded_once_by_the_sellers_rule(rounding: Rounding, amount_minor: int) -> None:
    seller = SellerRule("EUR", rounding, Decimal(0))

    rating = priced(25, rule(price="0.001"), seller=seller)

    assert rating.net_minor == amount_minor


def test_tax_is_taken_on_the_sum_of_lines_not_per_line() -> None:
    """Two lines of 0.03 at 19 %: 0.0114 together, where per line it would be 0.01 + 0.01."""
    rules = (rule(price="0.03"), rule(price="0.03", meter="other"))

    rating = priced(1, *rules)

    assert (rating.net_minor, rating.tax_minor) == (6, 1)
    assert rating.taxes[0].taxable_minor == 6


@pytest.mark.parametrize(("currency", "minor"), [("JPY", 12), ("EUR", 1235), ("KWD", 12345)])
def test_minor_units_come_from_the_currency(currency: str, minor: int) -> None:
    seller = SellerRule(currency, Rounding.HALF_UP, Decimal(0))

    rating = priced(1, rule(price="12.345"), seller=seller)

    assert rating.net_minor == minor


def test_a_price_of_twelve_places_is_exact() -> None:
    rating = priced(10**12, rule(price="0.000000000001", base_per_unit=1))

    assert rating.net_minor == 100


@pytest.mark.parametrize(("quantity", "billed"), [(99, 0), (100, 0), (103, 3)])
def test_included_units_cost_nothing(quantity: int, billed: int) -> None:
    line = priced(quantity, rule(included=100)).lines[0]

    assert (line.detail["used_base"], line.detail["billed_base"]) == (quantity, billed)
    assert line.amount_minor == billed * 100


def test_fee_and_included_amount_are_shared_by_seconds() -> None:
    tenth = Period(MONTH.starts_at, MONTH.starts_at + timedelta(days=3))
    part = segment(400, rule(included=1000), fee_minor=5000, period=tenth)

    fee, messages = pricing.rate([part], [], EUR, MONTH).lines

    assert (fee.amount_minor, fee.quantity) == (500, Decimal("0.1"))
    assert messages.detail["included_base"] == 100
    assert messages.amount_minor == 30000


def test_two_plans_in_a_month_are_each_billed_for_their_span() -> None:
    middle = MONTH.starts_at + timedelta(days=15)
    first = segment(0, fee_minor=1000, period=Period(MONTH.starts_at, middle))
    second = segment(0, fee_minor=9000, period=Period(middle, MONTH.ends_at))

    rating = pricing.rate([first, second], [], EUR, MONTH)

    assert [line.amount_minor for line in rating.lines] == [500, 4500]


def test_a_peak_is_billed_of_the_busiest_space_alone() -> None:
    peaks = rule(meter="peak_connections", is_peak=True)
    usage = (SpaceUsage("spc_a", "peak_connections", 7), SpaceUsage("spc_b", "peak_connections", 9))
    part = Segment(MONTH, "team", 1, "Team", 0, (peaks,), usage)

    line = pricing.rate([part], [], EUR, MONTH).lines[0]

    assert line.amount_minor == 900
    assert [space["space_id"] for space in line.detail["spaces"]] == ["spc_b"]


def test_hours_of_one_plan_are_one_line_shared_out_to_spaces() -> None:
    lifetimes = [
        Lifetime("space_hours", "small", 2, "Space hours, small", Decimal("0.03"), space, seconds)
        for space, seconds in (("spc_b", 1800), ("spc_a", 3600))
    ]

    (line,) = pricing.rate([], lifetimes, EUR, MONTH).lines

    assert (line.quantity, line.amount_minor) == (Decimal("1.5"), 4)
    assert [(s["space_id"], s["amount_minor"]) for s in line.detail["spaces"]] == [
        ("spc_a", 3),
        ("spc_b", 1),
    ]


@given(
    quantities=st.lists(st.integers(0, 10**9), min_size=1, max_size=6),
    price=st.decimals("0", "10", places=6),
)
def test_the_parts_of_a_line_sum_to_the_line(quantities: list[int], price: Decimal) -> None:
    usage = tuple(SpaceUsage(f"spc_{n}", "messages", q) for n, q in enumerate(quantities))
    part = Segment(MONTH, "team", 1, "Team", 0, (rule(price=str(price)),), usage)

    (line,) = pricing.rate([part], [], EUR, MONTH).lines

    assert sum(space["amount_minor"] for space in line.detail["spaces"]) == line.amount_minor


@given(quantity=st.integers(0, 10**7), more=st.integers(0, 10**6))
def test_graduated_never_costs_less_for_more(quantity: int, more: int) -> None:
    graduated = rule(Model.GRADUATED, tiers=TIERS, base_per_unit=7)

    assert priced(quantity + more, graduated).net_minor >= priced(quantity, graduated).net_minor


def test_included_hours_go_to_the_dearest_plan_first() -> None:
    lifetimes = [
        Lifetime("space_hours", key, 1, key, Decimal(price), "spc_a", 24 * 3600)
        for key, price in (("small", "1"), ("large", "2"))
    ]
    part = Segment(MONTH, "team", 1, "Team", 0, (), included_hours={"space_hours": 30})

    lines = pricing.rate([part], lifetimes, EUR, MONTH).lines

    assert [(x.description, x.quantity, x.amount_minor) for x in lines] == [
        ("large", Decimal(0), 0),
        ("small", Decimal(18), 1800),
    ]
