"""The split of a change: its parts always add up, and each cause alone makes one kind of part."""

from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from plans.invoicing import changes
from plans.invoicing.changes import Billed, Cause, Part
from plans.rating import pricing
from plans.rating.billable import Lifetime, Segment, SpaceUsage
from plans.rating.money import Rounding
from plans.rating.month_so_far import MonthSoFar
from plans.rating.periods import Period, month_of
from plans.rating.price_rules import PriceRule, Tier
from plans.rating.pricing import SellerRule
from plans.usage.meters import Model
from plans.usage.reading import Figure
from tests.support.plans.billing_rows import ENDS_AT, STARTS_AT

APRIL = Period(STARTS_AT, ENDS_AT)
MAY = month_of(ENDS_AT, "UTC")
DAY = timedelta(days=1)
SELLER = SellerRule("EUR", Rounding.HALF_UP, Decimal(19))


def plan(
    price: str = "2", fee: int = 4900, key: str = "team", version: int = 1, included: int = 100
) -> Segment:
    rule = PriceRule(
        "messages",
        "Messages",
        Model.GRADUATED,
        "messages",
        1,
        (Tier(Decimal(500), Decimal(price)), Tier(None, Decimal(1))),
        included,
    )
    return Segment(APRIL, key, version, key, fee, (rule,))


def hours(seconds: int, price: str = "0.06", key: str = "small") -> Lifetime:
    return Lifetime("space_hours", key, 1, "Space hours", Decimal(price), "spc_1", seconds)


def billed(
    month: Period, *segments: Segment, used: int = 0, own: dict[Cause, int] | None = None,
    lifetimes: tuple[Lifetime, ...] = (),
) -> Billed:  # fmt: skip
    """Return what the kernel charges for ``segments``, with the usage in the last of them."""
    inside = [replace(row, usage=()) for row in segments]
    if used:
        inside[-1] = replace(inside[-1], usage=(SpaceUsage("spc_1", "messages", used),))
    rated = pricing.rate(inside, lifetimes, SELLER, month)
    return Billed(
        Period(inside[0].period.starts_at, inside[-1].period.ends_at),
        month,
        SELLER,
        segments,
        lifetimes,
        [Figure("spc_1", "", "messages_in", used)],
        changes.by_meter((line.meter, line.amount_minor) for line in rated.lines),
        {Cause.TAX: rated.tax_minor, **(own or {})},
    )


def in_may(segment: Segment) -> Segment:
    return replace(segment, period=MAY)


def without_tax(parts: list[Part]) -> list[tuple[Cause, str, int]]:
    return [(p.cause, p.meter, p.amount_minor) for p in parts if p.cause is not Cause.TAX]


def test_more_usage_at_the_same_prices_is_quantity_alone_across_tiers_and_included_units() -> None:
    found = changes.parts(billed(APRIL, plan(), used=90), billed(MAY, in_may(plan()), used=700))

    assert without_tax(found) == [(Cause.QUANTITY, "messages", 500 * 200 + 100 * 100)]


def test_a_new_version_of_the_plan_is_price_at_the_new_quantity() -> None:
    dearer = in_may(plan("3", 5900, version=2))

    found = changes.parts(billed(APRIL, plan(), used=200), billed(MAY, dearer, used=300))

    assert without_tax(found) == [
        (Cause.QUANTITY, "messages", 100 * 200),
        (Cause.PRICE, "messages", 200 * 100),
        (Cause.PRICE, "plan_fee", 1000),
    ]


def test_another_plan_is_plan_and_other_hours_are_quantity() -> None:
    business = in_may(plan("1.5", 9900, key="business", included=0))
    before = billed(APRIL, plan(), used=200, lifetimes=(hours(3600),))
    after = billed(MAY, business, used=200, lifetimes=(hours(36000),))

    assert without_tax(changes.parts(before, after)) == [
        (Cause.QUANTITY, "space_hours", 54),
        (Cause.PLAN, "messages", 200 * 150 - 100 * 200),
        (Cause.PLAN, "plan_fee", 5000),
    ]


def test_a_dearer_hour_is_price() -> None:
    before = billed(APRIL, plan(), lifetimes=(hours(36000),))
    after = billed(MAY, in_may(plan()), lifetimes=(hours(36000, "0.10"),))

    assert without_tax(changes.parts(before, after)) == [(Cause.PRICE, "space_hours", 40)]


def test_days_before_the_subscription_and_between_plans_are_no_quantity() -> None:
    """``at`` prices as long as plans were in force: here for 10 of 30 days, with a gap."""
    begun = replace(plan(), period=Period(STARTS_AT + 15 * DAY, STARTS_AT + 20 * DAY))
    resumed = replace(plan(), period=Period(STARTS_AT + 25 * DAY, ENDS_AT))
    before = replace(billed(APRIL, begun, resumed), period=APRIL)
    after = billed(MAY, in_may(plan()))

    assert without_tax(changes.parts(before, after)) == [
        (Cause.QUANTITY, "plan_fee", 4900 - 1633),
    ]


def test_lines_of_their_own_are_subtracted() -> None:
    before = billed(APRIL, plan(), own={Cause.DISCOUNT: -500, Cause.TAX: 0})
    after = billed(MAY, in_may(plan()), own={Cause.CORRECTION: 70, Cause.CREDIT: -30, Cause.TAX: 9})

    assert changes.parts(before, after) == [
        Part(Cause.CORRECTION, "", 70),
        Part(Cause.DISCOUNT, "", 500),
        Part(Cause.TAX, "", 9),
        Part(Cause.CREDIT, "", -30),
    ]


def test_a_later_invoice_of_a_divided_month_is_told_apart() -> None:
    """Its usage continues the month's included amount, so it is no matter of price or plan."""
    middle = datetime(2026, 5, 16, tzinfo=MAY.starts_at.tzinfo)
    first = replace(plan(), period=Period(MAY.starts_at, middle), runs_on=True,
                    usage=(SpaceUsage("spc_1", "messages", 100),))  # fmt: skip
    so_far = pricing.rate([first], [], SELLER, MAY).so_far
    second = replace(plan(), period=Period(middle, MAY.ends_at))
    after = _continued(so_far, second, used=80)

    found = changes.parts(billed(APRIL, plan(), used=80), after)

    causes = {part.cause for part in found}
    assert causes == {Cause.QUANTITY, Cause.DIVIDED_MONTH, Cause.TAX}
    assert (
        sum(part.amount_minor for part in found)
        == after.payable_minor - billed(APRIL, plan(), used=80).payable_minor
    )


def _continued(so_far: MonthSoFar, segment: Segment, used: int) -> Billed:
    alone = replace(segment, usage=(SpaceUsage("spc_1", "messages", used),))
    rated = pricing.rate([alone], [], SELLER, MAY, so_far)
    charged = changes.by_meter((line.meter, line.amount_minor) for line in rated.lines)
    made = billed(MAY, segment, used=used)
    return replace(made, charged=charged, own_lines={Cause.TAX: rated.tax_minor})


@st.composite
def sides(draw: st.DrawFn, month: Period) -> Billed:
    """An invoice of any plans, periods, hours and lines of its own."""
    quarters = [month.starts_at + (month.ends_at - month.starts_at) * n / 4 for n in range(5)]
    ends = sorted(draw(st.sets(st.integers(0, 4), min_size=2, max_size=4)))
    segments = [
        replace(
            plan(
                draw(st.sampled_from(["2", "0.0137", "3"])),
                draw(st.integers(0, 9900)),
                draw(st.sampled_from(["team", "business"])),
                draw(st.integers(1, 2)),
                draw(st.integers(0, 900)),
            ),
            period=Period(quarters[first], quarters[last]),
            trial_seconds=draw(st.sampled_from([0, 3600])),
        )
        for first, last in pairwise(ends)
    ]
    own: dict[Any, int] = {
        cause: draw(st.integers(-5000, 5000)) for cause in changes.OWN_LINES if draw(st.booleans())
    }
    lifetimes = tuple(
        hours(draw(st.integers(1, 10**6)), draw(st.sampled_from(["0.06", "0.1"])), key)
        for key in draw(st.sets(st.sampled_from(["small", "large"])))
    )
    made = billed(month, *segments, used=draw(st.integers(0, 3000)), lifetimes=lifetimes)
    # Invoices of divided months charge other amounts than alone.
    charged = {meter: amount + draw(st.integers(-9, 9)) for meter, amount in made.charged.items()}
    return replace(made, charged=charged, own_lines=own)


@settings(max_examples=300, deadline=None)
@given(older=sides(APRIL), newer=sides(MAY))
def test_the_parts_add_up_to_the_difference_exactly(older: Billed, newer: Billed) -> None:
    found = changes.parts(older, newer)

    total = sum(part.amount_minor for part in found)
    assert total == newer.payable_minor - older.payable_minor
    assert all(part.amount_minor for part in found)
    assert len({(part.cause, part.meter) for part in found}) == len(found)
