"""Shares of a line: in any division by time they add up to what pricing charged, exactly."""

from collections.abc import Sequence
from datetime import timedelta
from decimal import Decimal
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from plans.invoicing import drill_down
from plans.rating import pricing
from plans.rating.attribution import Counting, Share, shares
from plans.rating.billable import Segment, SpaceUsage
from plans.rating.money import Rounding
from plans.rating.periods import Period
from plans.rating.price_rules import PriceRule, Tier
from plans.rating.pricing import Line, SellerRule
from plans.usage.meters import Model
from tests.support.plans.billing_rows import ENDS_AT, STARTS_AT

SELLER = SellerRule("EUR", Rounding.HALF_EVEN, Decimal(19))
MONTH = Period(STARTS_AT, ENDS_AT)
HALF = STARTS_AT + (ENDS_AT - STARTS_AT) / 2
_USED = st.lists(st.integers(0, 700), min_size=1, max_size=30)


@st.composite
def rules(draw: st.DrawFn, meter: str) -> PriceRule:
    model = draw(st.sampled_from(list(Model)))
    tiers = (Tier(Decimal(draw(st.integers(1, 40))), Decimal("0.8")), Tier(None, Decimal("0.5")))
    return PriceRule(
        meter,
        meter,
        model,
        "unit",
        draw(st.sampled_from([1, 7, 100])),
        tiers if model in (Model.GRADUATED, Model.VOLUME) else tiers[1:],
        included=draw(st.integers(0, 5000)),
        is_peak=meter == "peak_connections",
    )


def segment(period: Period, rule: PriceRule, used: Sequence[int]) -> Segment:
    total = max(used) if rule.is_peak else sum(used)
    usage = (SpaceUsage("spc_1", rule.meter, total),) if total else ()
    return Segment(period, f"plan-{period.starts_at.day}", 1, "Plan", 0, (rule,), usage)


def document_of(lines: Sequence[Line], state: dict[str, Any]) -> dict[str, Any]:
    listed = [
        {
            "position": n,
            "kind": line.kind,
            "meter": line.meter,
            "description": line.description,
            "detail": line.detail,
        }
        for n, line in enumerate(lines, start=1)
    ]
    for row in state["segments"]:
        row["counted"] = row["span"]
    return {"lines": listed, "month_so_far": state, "period": {"time_zone": "UTC"}}


def steps(used: Sequence[int], period: Period) -> list[Any]:
    return [(period.starts_at + timedelta(hours=n), quantity) for n, quantity in enumerate(used)]


@settings(max_examples=300, deadline=None)
@given(data=st.data(), meter=st.sampled_from(["messages_in", "peak_connections"]))
def test_shares_of_each_line_add_up_to_what_pricing_charged(
    data: st.DataObject, meter: str
) -> None:
    periods = (Period(STARTS_AT, HALF), Period(HALF, ENDS_AT))
    used = [data.draw(_USED), data.draw(_USED)]
    segments = [
        segment(period, data.draw(rules(meter)), quantities)
        for period, quantities in zip(periods, used, strict=True)
    ]
    rated = pricing.rate(segments, [], SELLER, MONTH)
    made = document_of(rated.lines, rated.so_far.plain())

    for line in made["lines"]:
        if line["kind"] != "usage":
            continue
        found = drill_down.usage_line(made, line["position"])
        mine = used[periods.index(found.window)]
        divided = list(shares(found.counting, steps(mine, found.window)))
        whole = list(shares(found.counting, [(found.window.starts_at, found.used)]))

        assert sum(share.billed for share in divided) == line["detail"]["billed_base"]
        assert sum(share.billed for share in whole) == line["detail"]["billed_base"]
        assert sum(s.included for s in divided) == sum(s.included for s in whole)
        assert min(share.billed for share in divided) >= 0
        assert min(share.included for share in divided) >= 0


def test_included_units_go_to_the_usage_that_comes_first() -> None:
    counting = Counting(Model.UNIT, 10, 0, 1, 15)

    found = list(shares(counting, steps([6, 9, 10], MONTH)))

    at = [STARTS_AT + timedelta(hours=n) for n in range(3)]
    assert found == [Share(at[0], 6, 6, 0), Share(at[1], 9, 4, 5), Share(at[2], 10, 0, 10)]


def test_each_tier_bills_the_usage_that_reaches_it() -> None:
    second = Counting(Model.GRADUATED, 0, 0, 1, 8, skipped=10)

    found = [share.billed for share in shares(second, steps([6, 6, 6], MONTH))]

    assert found == [0, 2, 6]


def test_a_package_belongs_to_the_step_that_begins_it_and_a_flat_price_to_the_first_unit() -> None:
    package = Counting(Model.PACKAGE, 0, 5, 10, 2)
    flat = Counting(Model.FLAT, 4, 0, 1, 1)

    assert [s.billed for s in shares(package, steps([4, 2, 10], MONTH))] == [0, 1, 1]
    assert [s.billed for s in shares(flat, steps([4, 2, 9], MONTH))] == [0, 1, 0]


def test_a_peak_is_shared_by_the_steps_that_raise_it() -> None:
    """The month reached 5 before; 2 of what is new are included."""
    counting = Counting(Model.UNIT, 2, 0, 1, 3, is_peak=True, reached=5)

    found = list(shares(counting, steps([4, 8, 6, 10], MONTH)))

    assert [(s.used, s.included, s.billed) for s in found] == [
        (4, 0, 0),
        (8, 2, 1),
        (6, 0, 0),
        (10, 0, 2),
    ]


def test_a_line_bills_no_more_than_it_billed_in_all() -> None:
    """A tier ends where the next one begins, and a flat price that was paid bills nothing."""
    tier = Counting(Model.GRADUATED, 0, 0, 1, 5, skipped=2)
    paid = Counting(Model.FLAT, 0, 0, 1, 0)

    assert [s.billed for s in shares(tier, steps([1, 3, 9], MONTH))] == [0, 2, 3]
    assert [s.billed for s in shares(paid, steps([1, 3], MONTH))] == [0, 0]
    assert Counting(Model.FLAT, 0, 0, 1, 3).billed_of(7) == 1


def test_only_a_peak_counts_from_what_the_month_reached() -> None:
    assert Counting(Model.UNIT, 0, 0, 1, 7, reached=5).after(7) == (0, 7)


def test_packages_go_on_where_the_month_was() -> None:
    counting = Counting(Model.PACKAGE, 0, 10, 10, 3)

    assert [counting.billed_of(units) for units in (0, 1, 10, 11, 20, 21)] == [0, 1, 1, 2, 2, 3]
