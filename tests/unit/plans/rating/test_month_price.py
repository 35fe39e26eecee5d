"""The price of a month: pools of included amounts, peaks, hours by price, charges."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from plans.rating import month_price
from plans.rating.billable import Lifetime, Segment, SpaceUsage
from plans.rating.month_price import Hours, Part
from plans.rating.periods import Period
from plans.rating.price_rules import Price, PriceRule, Tier
from plans.usage.meters import Model

MONTH = Period(datetime(2026, 4, 1, tzinfo=UTC), datetime(2026, 5, 1, tzinfo=UTC))
MIDDLE = MONTH.starts_at + timedelta(days=15)
FIRST, SECOND = Period(MONTH.starts_at, MIDDLE), Period(MIDDLE, MONTH.ends_at)
SECONDS = 30 * 86_400
PRICE = Decimal("0.01")


def rule(meter: str = "m", **fields: Any) -> PriceRule:
    values: dict[str, Any] = {"model": Model.UNIT, "tiers": (Tier(None, PRICE),), **fields}
    return PriceRule(meter, meter, unit="unit", base_per_unit=1, **values)


def segment(period: Period, *rules: PriceRule, **fields: Any) -> Segment:
    values: dict[str, Any] = {"monthly_fee_minor": 0, **fields}
    return Segment(period, "p", 1, "P", rules=rules, **values)


def usage(**by_meter: int) -> tuple[SpaceUsage, ...]:
    return tuple(SpaceUsage("s", meter, n) for meter, n in by_meter.items())


@pytest.mark.parametrize(
    ("segments", "units"),
    [
        ([segment(MONTH)], 1000),
        ([segment(FIRST)], 500),
        ([segment(FIRST, runs_on=True)], 1000),
        ([segment(MONTH, runs_on=True)], 1000),
        ([segment(FIRST), segment(SECOND)], 1000),
        ([segment(Period(MIDDLE, MIDDLE + timedelta(seconds=1)))], 1),
        ([segment(Period(MIDDLE, MIDDLE + timedelta(days=3)), runs_on=True)], 500),
    ],
)
def test_segments_bring_their_share_of_what_a_month_includes(
    segments: list[Segment], units: int
) -> None:
    included = [(part, "m", 1000) for part in segments]

    assert month_price.pools(included, MONTH) == {"m": units}


def test_only_the_sum_of_a_pool_is_rounded_up() -> None:
    third = Period(MONTH.starts_at, MONTH.starts_at + timedelta(days=10))

    found = month_price.pools(
        [(segment(third), "a", 1), (segment(third), "a", 1), (segment(third), "b", 2)], MONTH
    )

    assert found == {"a": 1, "b": 1}


def test_usage_takes_from_the_pool_in_order_of_time() -> None:
    first = segment(FIRST, rule(included=100), usage=usage(m=30, other=7))
    second = segment(SECOND, rule(included=100), usage=usage(m=90))

    parts = month_price.price([first, second], [], MONTH, "EUR").parts

    unit = Price("unit", PRICE, 1)
    assert parts == {
        (0, "m"): Part(first.rules[0], [("s", 30)], 30, 100, 0, [(unit, 0)]),
        (1, "m"): Part(second.rules[0], [("s", 90)], 90, 70, 0, [(unit, 20)]),
    }


def test_what_was_billed_before_is_counted_over_segments() -> None:
    spans = [Period(MONTH.starts_at + timedelta(days=n), MONTH.starts_at + timedelta(days=n + 1))
             for n in range(3)]  # fmt: skip
    segments = [segment(span, rule(included=30), usage=usage(m=10)) for span in spans]

    parts = month_price.price(segments, [], MONTH, "EUR").parts

    assert [(part.included, part.start, part.charges[0][1]) for part in parts.values()] == [
        (3, 0, 7),
        (0, 7, 10),
        (0, 17, 10),
    ]


def test_a_peak_is_billed_as_far_as_it_exceeds_the_earlier_ones() -> None:
    spans = [Period(MONTH.starts_at + timedelta(days=n), MONTH.starts_at + timedelta(days=n + 1))
             for n in range(4)]  # fmt: skip
    segments = [
        segment(span, rule(is_peak=True), usage=usage(m=peak))
        for span, peak in zip(spans, (5, 3, 9, 10), strict=True)
    ]

    parts = month_price.price(segments, [], MONTH, "EUR").parts

    assert [(part.used, part.start, part.charges[0][1]) for part in parts.values()] == [
        (5, 0, 5),
        (3, 5, 0),
        (9, 5, 4),
        (10, 9, 1),
    ]


def test_a_flat_price_that_was_paid_is_paid_until_a_dearer_one() -> None:
    prices = (10, 8, 12, 11)
    spans = [Period(MONTH.starts_at + timedelta(days=n), MONTH.starts_at + timedelta(days=n + 1))
             for n in range(len(prices))]  # fmt: skip
    segments = [
        segment(span, rule(model=Model.FLAT, tiers=(Tier(None, Decimal(price)),)), usage=usage(m=1))
        for span, price in zip(spans, prices, strict=True)
    ]

    parts = month_price.price(segments, [], MONTH, "EUR").parts

    assert [part.charges[0] for part in parts.values()] == [
        (Price("flat", Decimal(10), 1), 1),
        (Price("flat", Decimal(8), 1), 0),
        (Price("flat", Decimal(2), 1), 1),
        (Price("flat", Decimal(11), 1), 0),
    ]


def test_a_flat_price_without_use_is_not_paid() -> None:
    flat = rule(model=Model.FLAT, tiers=(Tier(None, Decimal(10)),))

    segments = [segment(FIRST, flat), segment(SECOND, flat, usage=usage(m=1))]
    parts = month_price.price(segments, [], MONTH, "EUR").parts

    assert [part.charges[0][1] for part in parts.values()] == [0, 1]


def test_a_unit_price_pays_no_flat_price_of_a_later_plan() -> None:
    flat = rule(model=Model.FLAT, tiers=(Tier(None, Decimal(10)),))
    unit = rule(tiers=(Tier(None, Decimal(99)),))

    segments = [segment(FIRST, unit, usage=usage(m=1)), segment(SECOND, flat, usage=usage(m=1))]
    parts = month_price.price(segments, [], MONTH, "EUR").parts

    assert parts[1, "m"].charges == [(Price("flat", Decimal(10), 1), 1)]


def test_fees_count_the_seconds_of_each_segment() -> None:
    segments = [
        segment(FIRST, monthly_fee_minor=1250, trial_seconds=60),
        segment(SECOND, monthly_fee_minor=0),
    ]

    found = month_price.price(segments, [], MONTH, "EUR")

    half = SECONDS // 2
    dear, free = Price("fee", Decimal("12.5"), SECONDS), Price("fee", Decimal(0), SECONDS)
    assert found.fees == [(dear, half - 60), (free, half)]
    assert found.charges() == {("plan_fee", dear): half - 60, ("plan_fee", free): 0}


def test_fees_are_in_the_unit_of_the_currency() -> None:
    [(price, _)] = month_price.price(
        [segment(MONTH, monthly_fee_minor=1250)], [], MONTH, "JPY"
    ).fees

    assert price.unit_price == 1250


def test_charges_of_one_price_are_added_up() -> None:
    segments = [
        segment(span, rule(), rule("n"), monthly_fee_minor=100, usage=usage(m=3, n=4))
        for span in (FIRST, SECOND)
    ]
    hours = [Lifetime("space_hours", "a", n, "A", PRICE, "s", 60) for n in (1, 2)]

    found = month_price.price(segments, hours, MONTH, "EUR").charges()

    assert found == {
        ("plan_fee", Price("fee", Decimal(1), SECONDS)): SECONDS,
        ("m", Price("unit", PRICE, 1)): 6,
        ("n", Price("unit", PRICE, 1)): 8,
        ("space_hours", Price("a/1", PRICE, 3600)): 60,
        ("space_hours", Price("a/2", PRICE, 3600)): 60,
    }


def test_plan_versions_of_one_price_are_charged_together() -> None:
    """Three plan versions share a price in the key of their meter only if kind and version do."""
    segments = [segment(MONTH, monthly_fee_minor=0)]
    hours = [
        Lifetime(meter, "a", 1, "A", PRICE, space, 60)
        for meter in ("space_hours", "address_hours")
        for space in ("x", "y")
    ]

    found = month_price.price(segments, hours, MONTH, "EUR").charges()

    assert found["space_hours", Price("a/1", PRICE, 3600)] == 120
    assert found["address_hours", Price("a/1", PRICE, 3600)] == 120


def test_included_hours_go_to_the_highest_price_of_their_meter() -> None:
    included = {"space_hours": 3}
    hours = [
        Lifetime("space_hours", "low", 1, "Low", Decimal(1), "s", 7200),
        Lifetime("space_hours", "high", 2, "High", Decimal(2), "s", 7200),
        Lifetime("address_hours", "other", 3, "Other", Decimal(9), "s", 7200),
    ]

    found = month_price.price([segment(MONTH, included_hours=included)], hours, MONTH, "EUR").hours

    assert found == {
        ("address_hours", "other", 3): Hours("Other", Price("other/3", Decimal(9), 3600), 7200),
        ("space_hours", "high", 2): Hours("High", Price("high/2", Decimal(2), 3600), 0),
        ("space_hours", "low", 1): Hours("Low", Price("low/1", Decimal(1), 3600), 3600),
    }
    assert list(found) == sorted(found)


def test_of_equal_peaks_the_lowest_space_counts() -> None:
    of = [SpaceUsage(space, "m", peak) for space, peak in (("a", 1), ("c", 9), ("b", 9))]
    of.append(SpaceUsage("a", "other", 99))

    assert month_price.per_space(of, rule(is_peak=True)) == [("b", 9)]
    assert month_price.per_space([], rule(is_peak=True)) == []
    assert month_price.per_space(of, rule()) == [("a", 1), ("b", 9), ("c", 9)]


def test_quantities_of_a_space_are_added_up_in_order_of_spaces() -> None:
    assert month_price.summed([("b", 1), ("a", 2), ("b", 3)]) == [("a", 2), ("b", 4)]
