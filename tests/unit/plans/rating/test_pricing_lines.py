"""Every field of every kind of invoice line, as documents store them."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from plans.rating import pricing
from plans.rating.billable import Lifetime, Segment, SpaceUsage
from plans.rating.money import Rounding
from plans.rating.month_so_far import MonthSoFar
from plans.rating.periods import Period
from plans.rating.price_rules import Price, PriceRule, Tier
from plans.rating.pricing import Line, SellerRule, TaxLine
from plans.rating.taxes import TaxRule
from plans.rating.terms import Commitment, Discount, Terms
from plans.usage.meters import Model

MONTH = Period(datetime(2026, 4, 1, tzinfo=UTC), datetime(2026, 5, 1, tzinfo=UTC))
MIDDLE = MONTH.starts_at + timedelta(days=15)
FIRST, SECOND = Period(MONTH.starts_at, MIDDLE), Period(MIDDLE, MONTH.ends_at)
SECONDS = 30 * 86_400
SELLER = SellerRule("EUR", Rounding.HALF_EVEN, Decimal(19), "S", "A note")
SPAN = {"starts_at": "2026-04-01T00:00:00+00:00", "ends_at": "2026-05-01T00:00:00+00:00"}


def rule(title: str = "Messages", model: Model = Model.UNIT, **fields: Any) -> PriceRule:
    values: dict[str, Any] = {"tiers": (Tier(None, Decimal("0.01")),), **fields}
    return PriceRule("messages", title, model, f"{title} unit", 100, **values)


def segment(period: Period = MONTH, used: int = 0, **fields: Any) -> Segment:
    values: dict[str, Any] = {"monthly_fee_minor": 0, "rules": (), **fields}
    usage = (SpaceUsage("spc_b", "messages", used), SpaceUsage("spc_a", "messages", used))
    return Segment(period, "team", 3, "Team", usage=usage if used else (), **values)


def rated(*segments: Segment, **fields: Any) -> pricing.Rating:
    values: dict[str, Any] = {"lifetimes": (), "seller": SELLER, "month": MONTH, **fields}
    return pricing.rate(segments, **values)


def test_a_fee_line_says_for_which_seconds_of_the_month() -> None:
    [line] = rated(segment(FIRST, monthly_fee_minor=5000)).lines

    assert line == Line(
        "fee", "plan_fee", "Plan Team", Decimal("0.5"), "month", Decimal(50), 2500,
        {
            "plan": "team", "plan_version": 3, "starts_at": SPAN["starts_at"],
            "ends_at": "2026-04-16T00:00:00+00:00", "seconds": SECONDS // 2,
            "seconds_per_month": SECONDS, "billed_base": SECONDS // 2,
        },
    )  # fmt: skip


def test_a_fee_line_of_a_trial_says_how_long_it_was() -> None:
    day = 86_400
    [line] = rated(segment(monthly_fee_minor=3000, trial_seconds=10 * day)).lines

    assert line.amount_minor == 2000
    assert line.detail == {
        "plan": "team", "plan_version": 3, **SPAN, "seconds": 20 * day,
        "seconds_per_month": SECONDS, "trial": 10 * day, "billed_base": 20 * day,
    }  # fmt: skip


def test_a_usage_line_says_what_was_used_included_and_billed() -> None:
    [line] = rated(segment(used=350, rules=(rule(included=100),))).lines

    assert line == Line(
        "usage", "messages", "Messages", Decimal(6), "Messages unit", Decimal("0.01"), 6,
        {
            "plan": "team", "plan_version": 3, **SPAN, "model": "unit", "used_base": 700,
            "included_base": 100, "billed_before_base": 0, "base_per_unit": 100,
            "billed_base": 600,
            "spaces": [
                {"space_id": "spc_a", "used_base": 350, "amount_minor": 3},
                {"space_id": "spc_b", "used_base": 350, "amount_minor": 3},
            ],
        },
    )  # fmt: skip


def test_a_line_of_hours_says_how_many_were_included() -> None:
    hours = [
        Lifetime("space_hours", "small", 2, "Hours, small", Decimal("0.36"), space, seconds, count)
        for space, seconds, count in (("spc_b", 1800, 1), ("spc_a", 7200, 2), ("spc_b", 1800, 4))
    ]
    plan = segment(included_hours={"space_hours": 1})

    [line] = rated(plan, lifetimes=hours).lines

    assert line == Line(
        "lifetime", "space_hours", "Hours, small", Decimal(2), "hours", Decimal("0.36"), 72,
        {
            "plan": "small", "plan_version": 2, "lifetimes": 7, "used_base": 10_800,
            "included_base": 3600, "base_per_unit": 3600, "billed_base": 7200,
            "spaces": [
                {"space_id": "spc_a", "used_base": 7200, "amount_minor": 48},
                {"space_id": "spc_b", "used_base": 3600, "amount_minor": 24},
            ],
        },
    )  # fmt: skip


def test_repriced_lines_name_what_they_take_back_in_order_of_meter_and_price() -> None:
    """After the first invoice, the same time turns out to be of a cheaper plan without usage."""
    hours = [Lifetime("space_hours", "small", 2, "Hours, small", Decimal(36), "s", 7200)]
    dear = segment(FIRST, 50, rules=(rule(),), monthly_fee_minor=3000)
    state = rated(dear, lifetimes=hours).so_far
    known = replace(
        state,
        segments=(replace(state.segments[0], usage=(), monthly_fee_minor=1000),),
        lifetimes=(replace(state.lifetimes[0], seconds=3600),),
    )

    lines = rated(so_far=known).lines

    half = SECONDS // 2
    assert lines == (
        Line("repriced", "messages", "Messages", Decimal(-1), "Messages unit", Decimal("0.01"), -1,
             {"base_per_unit": 100, "billed_base": -100}),
        Line("repriced", "plan_fee", "Plan", Decimal("0.5"), "month", Decimal(10), 500,
             {"base_per_unit": SECONDS, "billed_base": half}),
        Line("repriced", "plan_fee", "Plan", Decimal("-0.5"), "month", Decimal(30), -1500,
             {"base_per_unit": SECONDS, "billed_base": -half}),
        Line("repriced", "space_hours", "Hours, small", Decimal(-1), "hours", Decimal(36), -3600,
             {"base_per_unit": 3600, "billed_base": -3600}),
    )  # fmt: skip


def test_a_repriced_line_has_the_title_of_the_first_rule_with_its_model() -> None:
    """A flat price and two unit prices of one meter: the first unit price names the line."""
    flat = rule("Flat", Model.FLAT, tiers=(Tier(None, Decimal(1)),))
    other = PriceRule("peak", "Other meter", Model.UNIT, "other unit", 100, flat.tiers)
    first = segment(FIRST, rules=(other, flat))
    thirds = [
        replace(first, period=Period(MIDDLE, MIDDLE + timedelta(days=5)), rules=(rule("One"),)),
        replace(first, period=Period(MIDDLE + timedelta(days=5), MONTH.ends_at),
                rules=(rule("Two"),)),
    ]  # fmt: skip
    charged = {("messages", Price("unit", Decimal("0.01"), 100)): 300}
    known = MonthSoFar(segments=(first, *thirds), charged=charged)

    [line] = rated(so_far=known).lines

    assert (line.kind, line.meter, line.description, line.unit) == (
        "repriced", "messages", "One", "One unit",
    )  # fmt: skip


def test_lines_of_terms_cost_their_amount_for_one_month() -> None:
    terms = Terms(
        (Discount("d", "Partner", Decimal(10)),), (Commitment("c", "Minimum", 5000, MONTH),)
    )

    _, discount, commitment = rated(segment(monthly_fee_minor=1000), terms=terms).lines

    assert discount == Line(
        "discount", "discount", "Partner", Decimal(1), "month", Decimal("-1.00"), -100,
        {"key": "d", "month_so_far_minor": -100},
    )  # fmt: skip
    assert commitment == Line(
        "commitment", "commitment", "Minimum", Decimal(1), "month", Decimal("41.00"), 4100,
        {"key": "c", "month_so_far_minor": 4100},
    )  # fmt: skip


def test_a_discount_counts_every_unit_that_was_charged() -> None:
    single = replace(rule(), base_per_unit=1, tiers=(Tier(None, Decimal(1)),))
    terms = Terms((Discount("d", "Half", Decimal(50)),))

    _, line = rated(segment(used=2, rules=(single,)), terms=terms).lines

    assert line.amount_minor == -200


def test_terms_that_are_agreed_no_more_are_taken_back_in_the_order_of_their_keys() -> None:
    discounts = [Discount(key, key, None, amount) for key, amount in (("b", 100), ("a", 50))]
    first = rated(segment(FIRST, monthly_fee_minor=1000), terms=Terms(tuple(discounts)))

    lines = rated(segment(SECOND), so_far=first.so_far, terms=Terms()).lines

    assert lines == tuple(
        Line("discount", "discount", "Ended terms", Decimal(1), "month", Decimal(amount) / 100,
             amount, {"key": key, "month_so_far_minor": 0})
        for key, amount in (("a", 50), ("b", 100))
    )  # fmt: skip


def test_a_later_invoice_charges_what_terms_come_to_beyond_the_earlier_one() -> None:
    terms = Terms((Discount("d", "Half", Decimal(50)), Discount("e", "One euro", None, 100)))
    first = rated(segment(FIRST, monthly_fee_minor=1000), terms=terms)

    second = rated(segment(SECOND, monthly_fee_minor=1000), so_far=first.so_far)

    _, half = second.lines
    assert (half.amount_minor, half.detail) == (-250, {"key": "d", "month_so_far_minor": -500})
    assert first.so_far.adjusted == {"d": -250, "e": -100}
    assert second.so_far.adjusted == {"d": -500, "e": -100}
    assert second.so_far.terms == terms


def test_the_state_holds_no_charge_and_no_term_of_nothing() -> None:
    terms = Terms((Discount("d", "Nothing", Decimal(10), meters=("other",)),))

    rating = rated(segment(rules=(rule(),)), terms=terms)

    assert (rating.so_far.charged, rating.so_far.adjusted) == ({}, {})
    assert [line.kind for line in rating.lines] == ["usage"]


def test_the_state_keeps_segments_that_run_on_as_ended() -> None:
    state = rated(segment(FIRST, runs_on=True)).so_far

    assert [row.runs_on for row in state.segments] == [False]
    assert state.segments[0].period == FIRST


@pytest.mark.parametrize(
    ("segments", "minimum"), [((), 3000), ((segment(FIRST),), 1500), ((segment(),), 3000)]
)
def test_a_commitment_counts_to_the_end_of_the_last_segment(
    segments: tuple[Segment, ...], minimum: int
) -> None:
    """Without any segment it counts to the end of the month."""
    terms = Terms((), (Commitment("c", "Minimum", 3000, MONTH),))

    assert rated(*segments, terms=terms).net_minor == minimum


def test_a_commitment_counts_no_further_than_the_month() -> None:
    longer = Period(MONTH.starts_at, MONTH.ends_at + timedelta(days=30))

    assert rated(terms=Terms((), (Commitment("c", "C", 3000, longer),))).net_minor == 3000


def test_the_tax_line_has_the_category_and_the_note_of_the_seller() -> None:
    rating = rated(segment(monthly_fee_minor=1050))

    assert rating.taxes == (TaxLine(Decimal(19), 1050, 200, "S", "A note"),)
    assert (rating.net_minor, rating.tax_minor) == (1050, 200)


def test_a_tax_is_computed_with_all_digits() -> None:
    """29 digits: the default of ``decimal`` has 28 and would lose the last cent."""
    seller = replace(SELLER, tax_percent=Decimal(100))

    assert pricing.tax_on(10**28 + 1, seller).tax_minor == 10**28 + 1


@pytest.mark.parametrize(
    ("base", "quantity"),
    [
        (5, "0.000000000000"),
        (15, "0.000000000002"),
        (25, "0.000000000002"),
        (10**33 + 1, "100000000000000000000.000000000000"),
    ],
)
def test_the_quantity_of_a_line_has_twelve_places(base: int, quantity: str) -> None:
    """Half a place goes to the even neighbor, and large quantities keep all places."""
    tiny = replace(rule(), base_per_unit=10**13)
    part = replace(segment(rules=(tiny,)), usage=(SpaceUsage("s", "messages", base),))

    [line] = rated(part).lines

    assert f"{line.quantity:f}" == quantity


def test_hours_of_a_period_are_billed_at_most_as_far_as_they_were_used() -> None:
    """The first invoice counts on two included hours; the month ends with one."""
    first_hours = [Lifetime("space_hours", "s", 1, "S", Decimal(36), "a", 7200)]
    later_hours = [Lifetime("space_hours", "s", 1, "S", Decimal(36), "a", 60)]
    first = rated(segment(FIRST, included_hours={"space_hours": 4}), lifetimes=first_hours)

    second = rated(segment(SECOND), lifetimes=later_hours, so_far=first.so_far)

    assert [line.amount_minor for line in first.lines] == [0]
    assert [(line.kind, line.detail["billed_base"]) for line in second.lines] == [("lifetime", 60)]


def test_hours_that_are_included_after_all_are_given_back() -> None:
    """The first invoice charges two hours, and the second plan includes four for its half."""
    hours = [Lifetime("space_hours", "s", 1, "S", Decimal(36), "a", 7200)]
    more = [Lifetime("space_hours", "s", 1, "S", Decimal(36), "a", 60)]
    first = rated(segment(FIRST), lifetimes=hours)

    second = rated(
        segment(SECOND, included_hours={"space_hours": 8}), lifetimes=more, so_far=first.so_far
    )

    assert [(line.kind, line.detail["billed_base"]) for line in second.lines] == [
        ("lifetime", 0),
        ("repriced", -7200),
    ]


def test_each_tax_of_lines_is_rounded_once() -> None:
    """2 lines of 3 at 19 % are 1.14, and each alone would be 0.57."""
    seller = SellerRule("EUR", Rounding.HALF_UP, Decimal(19), "", "")
    other, same = TaxRule(Decimal(5), "S"), TaxRule(Decimal(19), "S")
    line = Line("fee", "plan_fee", "Plan", Decimal(1), "month", Decimal(1), 3)
    late = replace(line, kind="correction", amount_minor=10, tax=other)

    found = pricing.taxes_on([line, late, replace(line, tax=same), late], seller)

    assert found == (TaxLine(Decimal(19), 6, 1), TaxLine(Decimal(5), 20, 1, "S"))
    assert [row.tax for row in found] == [seller.tax, other]


def test_the_sellers_tax_is_the_first_even_if_no_line_bears_it() -> None:
    seller = SellerRule("EUR", Rounding.HALF_UP, Decimal(19), "S", "A note")
    line = Line("fee", "plan_fee", "Plan", Decimal(1), "month", Decimal(1), -10)
    late = replace(line, tax=TaxRule(Decimal(5)))

    assert pricing.taxes_on([], seller) == (TaxLine(Decimal(19), 0, 0, "S", "A note"),)
    assert pricing.taxes_on([late], seller) == (
        TaxLine(Decimal(19), 0, 0, "S", "A note"), TaxLine(Decimal(5), -10, -1),
    )  # fmt: skip
