"""Rules of pricing that the docs state for cases at the edge (docs/billing.md)."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from plans.rating import money, pricing
from plans.rating.billable import Lifetime, Segment, SpaceUsage
from plans.rating.money import Rounding
from plans.rating.periods import Period
from plans.rating.price_rules import PriceRule, Tier
from plans.rating.pricing import SellerRule
from plans.usage.meters import Model

MONTH = Period(datetime(2026, 4, 1, tzinfo=UTC), datetime(2026, 5, 1, tzinfo=UTC))
MIDDLE = MONTH.starts_at + timedelta(days=15)
SELLER = SellerRule("EUR", Rounding.HALF_EVEN, Decimal(0))


@pytest.mark.parametrize(
    ("exact", "half_up", "half_even"),
    [("-0.5", -1, 0), ("-1.5", -2, -2), ("-2.5", -3, -2), ("2.5", 3, 2), ("-0.49", 0, 0)],
)
def test_a_negative_half_rounds_like_its_mirror(exact: str, half_up: int, half_even: int) -> None:
    assert money.round_minor(Decimal(exact), Rounding.HALF_UP) == half_up
    assert money.round_minor(Decimal(exact), Rounding.HALF_EVEN) == half_even


def test_a_negative_tax_rounds_by_the_same_rule() -> None:
    seller = SellerRule("EUR", Rounding.HALF_UP, Decimal(50))

    assert [pricing.tax_on(net, seller).tax_minor for net in (-1, -3, 1)] == [-1, -2, 1]


def test_included_hours_of_equal_price_go_to_the_lower_slug() -> None:
    hours = [
        Lifetime("space_hours", slug, 1, slug, Decimal("0.06"), "s", 7200)
        for slug in ("zeta", "alpha")
    ]
    plan = Segment(MONTH, "p", 1, "P", 0, (), included_hours={"space_hours": 3})

    lines = pricing.rate([plan], hours, SELLER, MONTH).lines

    assert {line.description: line.amount_minor for line in lines} == {"alpha": 0, "zeta": 6}


def packages(size: int) -> PriceRule:
    tiers = (Tier(None, Decimal(1)),)
    return PriceRule("m", "M", Model.PACKAGE, f"{size}", size, tiers)


@pytest.mark.parametrize(
    ("sizes", "used", "amounts"),
    [
        # 150 begin 2 packages of 100. In packages of 1,000, 150 have begun one, which holds 1,000.
        ((100, 1000), (150, 850), [200, 0]),
        ((100, 1000), (150, 851), [200, 100]),
        # 150 begin 1 package of 1,000. In packages of 100 they have begun two, which hold 200.
        ((1000, 100), (150, 50), [100, 0]),
        ((1000, 100), (150, 51), [100, 100]),
    ],
)
def test_packages_of_another_size_count_what_the_month_used_before(
    sizes: tuple[int, int], used: tuple[int, int], amounts: list[int]
) -> None:
    spans = (Period(MONTH.starts_at, MIDDLE), Period(MIDDLE, MONTH.ends_at))
    segments = [
        Segment(span, f"p{n}", 1, "P", 0, (packages(size),), (SpaceUsage("s", "m", units),))
        for n, (span, size, units) in enumerate(zip(spans, sizes, used, strict=True))
    ]

    lines = pricing.rate(segments, [], SELLER, MONTH).lines

    assert [line.amount_minor for line in lines] == amounts


@pytest.mark.parametrize(("used", "charged"), [(0, 0), (1, 1000), (2, 1000), (10**9, 1000)])
def test_a_flat_price_is_charged_from_the_first_unit_on(used: int, charged: int) -> None:
    rule = PriceRule("m", "M", Model.FLAT, "month", 1, (Tier(None, Decimal(10)),))
    usage = (SpaceUsage("s", "m", used),) if used else ()

    rating = pricing.rate([Segment(MONTH, "p", 1, "P", 0, (rule,), usage)], [], SELLER, MONTH)

    assert rating.net_minor == charged


@pytest.mark.parametrize(("used", "charged"), [(5, 0), (6, 1000)])
def test_a_flat_price_is_not_charged_for_included_units(used: int, charged: int) -> None:
    rule = PriceRule("m", "M", Model.FLAT, "month", 1, (Tier(None, Decimal(10)),), included=5)
    segment = Segment(MONTH, "p", 1, "P", 0, (rule,), (SpaceUsage("s", "m", used),))

    assert pricing.rate([segment], [], SELLER, MONTH).net_minor == charged


def test_hours_are_charged_for_every_second_beyond_the_included_ones() -> None:
    hours = [Lifetime("space_hours", "a", 1, "a", Decimal(36), "s", 3601)]
    plan = Segment(MONTH, "p", 1, "P", 0, (), included_hours={"space_hours": 1})

    (line,) = pricing.rate([plan], hours, SELLER, MONTH).lines

    assert (line.detail["billed_base"], line.amount_minor) == (1, 1)


def test_repriced_units_are_billed_whole() -> None:
    """A lower volume price gives back for every unit that was billed before."""
    rule = PriceRule(
        "m", "M", Model.VOLUME, "unit", 1, (Tier(Decimal(10), Decimal(2)), Tier(None, Decimal(1)))
    )
    first = Segment(
        Period(MONTH.starts_at, MIDDLE), "p", 1, "P", 0, (rule,), (SpaceUsage("s", "m", 10),)
    )
    second = Segment(
        Period(MIDDLE, MONTH.ends_at), "p", 1, "P", 0, (rule,), (SpaceUsage("s", "m", 1),)
    )
    so_far = pricing.rate([first], [], SELLER, MONTH).so_far

    lines = pricing.rate([second], [], SELLER, MONTH, so_far).lines

    assert [(line.kind, line.amount_minor) for line in lines] == [
        ("usage", 100), ("repriced", 1000), ("repriced", -2000),
    ]  # fmt: skip
