"""Hours of a space that changed its plan: each at the price of the plan it had then."""

from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any
from unittest.mock import Mock, patch

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import given, settings
from hypothesis import strategies as st

from plans.catalog import publishing
from plans.invoicing import billing_inputs, invoice_closing, invoice_verification, previewing
from plans.invoicing.billing_inputs import KnownLifetimes
from plans.models import Invoice, PlanSubscription, SpacePlan
from plans.rating.periods import Period
from tenants.actions import space_plans
from tenants.models import AddressSpace, Tenant
from tests.support.plans import billing_rows as rows
from tests.support.plans.billing_rows import AFTER_GRACE, ENDS_AT, STAFF, STARTS_AT

MONTH = Period(STARTS_AT, ENDS_AT)
DAY = timedelta(days=1)
MICROSECONDS = 30 * 24 * 3600 * 10**6


@pytest.fixture
def owner(db: None) -> Tenant:
    return rows.tenant()


@pytest.fixture
def large(owner: Tenant) -> SpacePlan:
    """A larger plan that the owner may use, at 0.06 an hour; the small one costs 0.02."""
    small = publishing.space_plan("standard-small")
    own = PlanSubscription.objects.get(tenant=owner).plan
    own.definition["space_plans"].append("standard-large")
    own.save()
    return SpacePlan.objects.create(
        key="standard-large",
        version=1,
        catalogue=small.catalogue,
        title="Standard large",
        space_type="standard",
        definition={**small.definition, "hour_price": "0.06"},
    )


def move(space: AddressSpace, to: SpacePlan, at: datetime) -> None:
    """Move the space at a moment of April."""
    with patch.object(space_plans, "timezone", Mock(now=lambda: at)):
        space_plans.change(space=space, space_plan=to.key, by=STAFF)


def hours(owner: Tenant, period: Period = MONTH) -> dict[str, tuple[float, int]]:
    """Return the hours of spaces by plan, and how many spaces had it."""
    return {
        key.plan: (seconds / 3600, count)
        for key, (seconds, count) in KnownLifetimes.read(owner, period).seconds.items()
        if key.meter == "space_hours"
    }


def span(first: int, last: int) -> Period:
    """Return the seconds from the first to the last one of the month."""
    return Period(STARTS_AT + timedelta(seconds=first), STARTS_AT + timedelta(seconds=last))


def closed(owner: Tenant, starts_at: datetime, ends_at: datetime) -> Invoice:
    invoice, _ = invoice_closing.request_close(
        tenant=owner,
        starts_at=starts_at,
        ends_at=ends_at,
        by=STAFF,
        now_forced=True,
        now=AFTER_GRACE,
    )
    sampled = frozenset(owner.spaces.values_list("id", flat=True))
    evidence = rows.evidence([], sampled_spaces=sampled)
    return invoice_closing.close(invoice=invoice, evidence=evidence, by=STAFF)


def test_each_hour_has_the_plan_of_its_time(owner: Tenant, large: SpacePlan) -> None:
    move(rows.space(owner), large, STARTS_AT + 10 * DAY)

    assert hours(owner) == {"standard-small": (240, 1), "standard-large": (480, 1)}


def test_each_second_has_the_plan_of_its_time(owner: Tenant, large: SpacePlan) -> None:
    space = rows.space(owner, active_since=STARTS_AT + timedelta(seconds=4))
    small = space.space_plan
    for to, second in ((large, 10), (small, 25), (large, 40)):
        move(space, to, STARTS_AT + timedelta(seconds=second))

    found = [
        {plan: round(lifetimes * 3600) for plan, (lifetimes, _) in hours(owner, period).items()}
        for period in (span(0, 60), span(0, 12), span(12, 30), span(30, 60))
    ]

    assert found == [
        {"standard-small": 21, "standard-large": 35},
        {"standard-small": 6, "standard-large": 2},
        {"standard-small": 5, "standard-large": 13},
        {"standard-small": 10, "standard-large": 20},
    ]


def test_a_space_that_comes_back_to_its_plan_is_one_space(owner: Tenant, large: SpacePlan) -> None:
    space = rows.space(owner)
    small = space.space_plan
    move(space, large, STARTS_AT + 10 * DAY)
    move(space, small, STARTS_AT + 15 * DAY)

    assert hours(owner) == {"standard-small": (600, 1), "standard-large": (120, 1)}


def test_changes_before_the_space_was_active_cost_nothing(owner: Tenant, large: SpacePlan) -> None:
    space = rows.space(owner, active_since=STARTS_AT + 20 * DAY)
    move(space, large, STARTS_AT + 10 * DAY)

    assert hours(owner) == {"standard-large": (240, 1)}


def test_a_space_that_was_never_active_has_no_hours(owner: Tenant, large: SpacePlan) -> None:
    move(rows.space(owner, active_since=None), large, STARTS_AT + 10 * DAY)

    assert hours(owner) == {}


def test_a_deleted_space_ends_with_its_last_plan(owner: Tenant, large: SpacePlan) -> None:
    gone = STARTS_AT + 12 * DAY
    space = rows.space(owner)
    move(space, large, STARTS_AT + 10 * DAY)
    AddressSpace.objects.update(deletion_requested_at=gone, deleted_at=gone)

    assert hours(owner) == {"standard-small": (240, 1), "standard-large": (48, 1)}


def test_a_change_in_another_month_touches_this_one_not(owner: Tenant, large: SpacePlan) -> None:
    move(rows.space(owner), large, ENDS_AT + DAY)

    assert hours(owner) == {"standard-small": (720, 1)}
    assert hours(owner, Period(ENDS_AT, ENDS_AT + 30 * DAY)) == {
        "standard-small": (24, 1),
        "standard-large": (29 * 24, 1),
    }


def test_former_plans_are_read_in_the_same_statement(owner: Tenant, large: SpacePlan) -> None:
    for name in ("a", "b", "c"):
        move(rows.space(owner, name), large, STARTS_AT + DAY)

    with CaptureQueriesContext(connection) as queries:
        found = KnownLifetimes.read(owner, MONTH)

    assert len(queries) == 1
    assert len(found.seconds) == 6


def test_an_invoice_charges_each_plan_and_can_be_recomputed(
    owner: Tenant, large: SpacePlan
) -> None:
    move(rows.space(owner), large, STARTS_AT + 10 * DAY)

    invoice = closed(owner, STARTS_AT, ENDS_AT)

    # the fee; 240 hours at 0.02; 480 hours at 0.06
    assert invoice.net_minor == 4900 + 480 + 2880
    assert invoice_verification.verify(invoice=invoice, cells=[]).differences == ()


def test_a_month_with_a_change_costs_the_same_however_it_is_closed(
    owner: Tenant, large: SpacePlan
) -> None:
    move(rows.space(owner), large, STARTS_AT + 10.37 * DAY)
    whole = previewing.preview(owner, ENDS_AT - timedelta(seconds=1)).document["net_minor"]
    edges = [STARTS_AT, STARTS_AT + 4 * DAY, STARTS_AT + 10.37 * DAY, STARTS_AT + 20 * DAY, ENDS_AT]

    made = [closed(owner, *span) for span in pairwise(edges)]

    assert [invoice.state for invoice in made] == [Invoice.State.DRAFT] * 4
    assert sum(invoice.net_minor for invoice in made) == whole
    # 248.88 hours at 0.02 and 471.12 at 0.06
    assert whole == 4900 + 498 + 2827


@settings(max_examples=200, deadline=None)
@given(
    changes=st.lists(st.integers(-(10**9), MICROSECONDS + 10**9), max_size=5).map(sorted),
    cuts=st.sets(st.integers(1, MICROSECONDS - 1), max_size=4),
    since=st.integers(-(10**9), MICROSECONDS - 1),
)
def test_no_second_is_lost_or_billed_twice(changes: list[int], cuts: set[int], since: int) -> None:
    row: dict[str, Any] = {
        "id": "spc_a",
        "active_since": STARTS_AT + timedelta(microseconds=since),
        "deleted_at": None,
        "space_plan__key": f"plan-{len(changes)}",
        "space_plan__version": 1,
        "former": [
            {
                "key": f"plan-{n}",
                "version": 1,
                "ended_at": (STARTS_AT + timedelta(microseconds=at)).isoformat(),
            }
            for n, at in enumerate(changes)
        ],
    }
    edges = [0, *sorted(cuts), MICROSECONDS]
    pieces = [
        Period(STARTS_AT + timedelta(microseconds=a), STARTS_AT + timedelta(microseconds=b))
        for a, b in pairwise(edges)
    ]

    whole = KnownLifetimes.seconds_of(billing_inputs.Span.of_space(row), MONTH)
    in_pieces: dict[Any, int] = {}
    for piece in pieces:
        for plan, (seconds, _) in KnownLifetimes.seconds_of(
            billing_inputs.Span.of_space(row), piece
        ).items():
            in_pieces[plan] = in_pieces.get(plan, 0) + seconds

    alive = MONTH.clip(row["active_since"], None)
    assert alive is not None
    assert sum(seconds for seconds, _ in whole.values()) == alive.seconds
    assert {p: n for p, n in in_pieces.items() if n} == {p: s for p, (s, _) in whole.items() if s}
