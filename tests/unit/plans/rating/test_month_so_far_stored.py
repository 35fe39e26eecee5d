"""The state of a month as documents store it, value by value."""

import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from plans.rating import month_so_far
from plans.rating.billable import Lifetime, Segment, SpaceUsage
from plans.rating.month_so_far import MonthSoFar
from plans.rating.periods import Period
from plans.rating.price_rules import Price
from plans.rating.terms import Discount, Terms

SPAN = Period(datetime(2026, 4, 1, tzinfo=UTC), datetime(2026, 4, 8, tzinfo=UTC))
REST = Period(datetime(2026, 4, 8, tzinfo=UTC), datetime(2026, 5, 1, tzinfo=UTC))
STATE = MonthSoFar(
    (
        Segment(
            SPAN, "team", 3, "Team", 4900, (), (SpaceUsage("spc_a", "messages", 7),),
            counted=REST, trial_seconds=60,
        ),
        Segment(REST, "large", 1, "Large", 9900, ()),
    ),
    (Lifetime("space_hours", "small", 2, "Small", Decimal("0.030"), "", 7200, 0),),
    {
        ("messages", Price("unit", Decimal("0.50"), 100)): 40,
        ("fee", Price("fee", Decimal(100), 2_592_000)): 604_800,
    },
    Terms((Discount("d", "Partner", Decimal(10)),)),
    {"z": -3, "d": -5},
)  # fmt: skip
PLAIN: dict[str, Any] = {
    "segments": [
        {
            "span": ["2026-04-01T00:00:00+00:00", "2026-04-08T00:00:00+00:00"],
            "plan": "team",
            "plan_version": 3,
            "counted": ["2026-04-08T00:00:00+00:00", "2026-05-01T00:00:00+00:00"],
            "usage": [["spc_a", "messages", 7]],
            "trial": 60,
        },
        {
            "span": ["2026-04-08T00:00:00+00:00", "2026-05-01T00:00:00+00:00"],
            "plan": "large",
            "plan_version": 1,
            "counted": None,
            "usage": [],
        },
    ],
    "hours": [["space_hours", "small", 2, "Small", "0.03", 7200]],
    "charged": [["fee", "fee", "100", 2_592_000, 604_800], ["messages", "unit", "0.5", 100, 40]],
    "terms": {"discounts": [["d", "Partner", "10", None, []]], "commitments": []},
    "adjusted": {"d": -5, "z": -3},
}


def segment_of(key: str, version: int, span: Period) -> Segment:
    """Return the segment with the fee of its plan, which the state leaves out."""
    title, fee_minor = {"team": ("Team", 4900), "large": ("Large", 9900)}[key]
    return Segment(span, key, version, title, fee_minor, ())


def test_a_state_is_stored_in_the_same_bytes_each_time() -> None:
    assert STATE.plain() == PLAIN
    assert list(STATE.plain()["adjusted"]) == ["d", "z"]


def test_a_stored_state_is_read_again() -> None:
    found = MonthSoFar.from_plain(json.loads(json.dumps(PLAIN)), segment_of)

    assert found == STATE


def test_a_state_of_an_earlier_engine_has_no_terms_and_no_trial() -> None:
    plain = {key: PLAIN[key] for key in ("segments", "hours", "charged")}
    plain["segments"] = [{k: row[k] for k in row if k != "trial"} for row in plain["segments"]]

    found = MonthSoFar.from_plain(plain, segment_of)

    assert (found.terms, found.adjusted) == (Terms(), {})
    assert [row.trial_seconds for row in found.segments] == [0, 0]


def test_a_month_without_any_invoice_stores_no_terms() -> None:
    assert MonthSoFar().plain() == {"segments": [], "hours": [], "charged": []}


def test_lifetimes_of_one_version_are_merged_over_spaces() -> None:
    def lived(meter: str, key: str, version: int, space: str, seconds: int) -> Lifetime:
        return Lifetime(meter, key, version, key, Decimal(1), space, seconds, 3)

    found = month_so_far.merged(
        [
            lived("space_hours", "b", 1, "x", 5),
            lived("space_hours", "a", 2, "x", 7),
            lived("space_hours", "b", 1, "y", 11),
            lived("address_hours", "b", 1, "x", 13),
            lived("space_hours", "a", 1, "x", 17),
        ]
    )

    assert [(row.meter, row.plan_key, row.plan_version, row.seconds) for row in found] == [
        ("address_hours", "b", 1, 13),
        ("space_hours", "a", 1, 17),
        ("space_hours", "a", 2, 7),
        ("space_hours", "b", 1, 16),
    ]
    assert {(row.space_id, row.count) for row in found} == {("", 0)}


@pytest.mark.parametrize(
    ("price", "text"), [("0.500", "0.5"), ("100", "100"), ("1E-12", "0.000000000001")]
)
def test_a_price_is_stored_without_trailing_zeros(price: str, text: str) -> None:
    assert month_so_far.digits(Decimal(price)) == text
