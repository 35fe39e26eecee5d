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
