"""A month cut into pieces costs what it would in one: tiers, included amounts, flat prices, cents.

Cut by changes of plan inside an invoice, and by "close now" into several invoices.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import pairwise

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import given, settings
from hypothesis import strategies as st

from controlplane.core.errors import WaypostError
from plans.invoicing import (
    document,
    invoice_closing,
    invoice_verification,
    issuing,
    previewing,
)
from plans.invoicing.billing_inputs import KnownLifetimes
from plans.models import Invoice, Plan, PlanSubscription
from plans.rating import pricing
from plans.rating.billable import Lifetime, Segment, SpaceUsage
from plans.rating.money import Rounding
from plans.rating.month_so_far import MonthSoFar
from plans.rating.periods import Period
from plans.rating.price_rules import PriceRule, Tier
from plans.rating.pricing import SellerRule
from plans.usage.meters import Model
from plans.usage.reading import UsageCell
from tenants.models import AddressSpace, Tenant
from tests.support.plans import billing_rows as rows
from tests.support.plans.billing_rows import AFTER_GRACE, ENDS_AT, STAFF, STARTS_AT

MONTH = Period(STARTS_AT, ENDS_AT)
SELLER = SellerRule("EUR", Rounding.HALF_EVEN, Decimal(19))
TIERS = (
    Tier(Decimal(100), Decimal("1.003")),
    Tier(Decimal(1000), Decimal("0.507")),
    Tier(None, Decimal("0.101")),
)
RULES = tuple(
    PriceRule(f"m_{model.value}", model.value, model, "units", 7, TIERS, included)
    for model, included in zip(Model, (0, 300, 1_000, 500, 3), strict=True)
)
PEAK = PriceRule("peak", "Peak", Model.UNIT, "connections", 1, TIERS[:1], 20, is_peak=True)
DAY = timedelta(days=1)


@st.composite
def months(draw: st.DrawFn) -> list[tuple[int, dict[str, int], tuple[int, int]]]:
    """Pieces of a month: the second each ends at, use by meter, hours of two plans of spaces."""
    ends = sorted(draw(st.sets(st.integers(1, MONTH.seconds - 1), max_size=4)))
    use = st.fixed_dictionaries({rule.meter: st.integers(0, 5_000) for rule in (*RULES, PEAK)})
    hours = st.tuples(st.integers(0, 30), st.integers(0, 30))
    return [(end, draw(use), draw(hours)) for end in (*ends, MONTH.seconds)]


@settings(max_examples=150, deadline=None)
@given(pieces=months(), cuts=st.sets(st.integers(0, 4)))
def test_a_month_costs_the_same_however_it_is_cut(
    pieces: list[tuple[int, dict[str, int], tuple[int, int]]], cuts: set[int]
) -> None:
    """Each piece is a segment of its own; after the pieces in ``cuts`` an invoice ends."""
    whole = {rule.meter: sum(use[rule.meter] for _, use, _ in pieces) for rule in RULES}
    whole["peak"] = max(use["peak"] for _, use, _ in pieces)
    hours = tuple(sum(piece[n] for _, _, piece in pieces) for n in (0, 1))
    uncut = pricing.rate([_segment(MONTH, whole)], _lifetimes(*hours), SELLER, MONTH)

    assert sum(rating.net_minor for rating in _billed(pieces, cuts)) == uncut.net_minor


def test_invoices_say_where_in_the_month_they_begin() -> None:
    first, second = _billed([(86_400, {"m_unit": 340}, (0, 0)), (MONTH.seconds, {"m_unit": 70},
                                                                 (0, 0))], {0})  # fmt: skip

    lines = [next(x for x in r.lines if x.meter == "m_unit") for r in (first, second)]

    assert [line.detail["included_base"] for line in lines] == [300, 0]
    assert [line.detail["billed_base"] for line in lines] == [40, 70]
    assert [line.detail["billed_before_base"] for line in lines] == [0, 40]


def test_state_of_the_month_survives_json() -> None:
    [rating] = _billed([(MONTH.seconds, {"m_graduated": 9_000, "peak": 30}, (3, 4))], set())

    def again(key: str, version: int, span: Period) -> Segment:
        return replace(_segment(span, {}), plan_key=key, plan_version=version)

    plain = json.loads(json.dumps(rating.so_far.plain()))

    assert MonthSoFar.from_plain(plain, again) == rating.so_far


def test_flat_price_of_a_dearer_plan_costs_the_difference() -> None:
    parts = [Period(STARTS_AT, STARTS_AT + DAY), Period(STARTS_AT + DAY, ENDS_AT)]
    flat = [
        PriceRule("m", "M", Model.FLAT, "month", 1, (Tier(None, Decimal(p)),)) for p in (10, 12)
    ]
    used = (SpaceUsage("spc_a", "m", 5),)
    segments = [
        Segment(span, "p", n, "P", 0, (rule,), used)
        for n, (span, rule) in enumerate(zip(parts, flat, strict=True))
    ]

    lines = pricing.rate(segments, [], SELLER, MONTH).lines

    assert [line.amount_minor for line in lines] == [1000, 200]


def _billed(
    pieces: Sequence[tuple[int, dict[str, int], tuple[int, int]]], cuts: set[int]
) -> list[pricing.Rating]:
    so_far, found, segments, total = MonthSoFar(), [], [], (0, 0)
    edges = [0, *(end for end, _, _ in pieces)]
    for n, ((start, end), (_, use, hours)) in enumerate(zip(pairwise(edges), pieces, strict=True)):
        span = Period(STARTS_AT + timedelta(seconds=start), STARTS_AT + timedelta(seconds=end))
        is_last = n in cuts or end == MONTH.seconds
        segments.append(_segment(span, use, runs_on=is_last))
        total = (total[0] + hours[0], total[1] + hours[1])
        if is_last:
            rating = pricing.rate(segments, _lifetimes(*total), SELLER, MONTH, so_far)
            found.append(rating)
            so_far, segments, total = rating.so_far, [], (0, 0)
    return found


def _segment(span: Period, use: dict[str, int], *, runs_on: bool = False) -> Segment:
    usage = tuple(SpaceUsage("spc_a", meter, n) for meter, n in use.items() if n)
    included = {"space_hours": 25}
    return Segment(span, "team", 1, "Team", 4999, (*RULES, PEAK), usage, included, runs_on=runs_on)


def _lifetimes(*hours: int) -> list[Lifetime]:
    prices = ("0.0333", "0.0777")
    return [
        Lifetime("space_hours", key, 1, key, Decimal(price), "spc_a", n * 3600)
        for key, price, n in zip(("small", "large"), prices, hours, strict=True)
        if n
    ]


@pytest.fixture
def owner(db: None) -> Tenant:
    return rows.tenant()


@pytest.fixture
def shop(owner: Tenant) -> AddressSpace:
    """A space with messages on three days of April: 6, 7 and 4 million."""
    row = rows.space(owner)
    rows.address(row)
    rows.used(*_cells(row))
    return row


def _cells(space: AddressSpace) -> list[UsageCell]:
    amounts = {3: 6_000_001, 12: 7_000_000, 25: 4_000_000}
    return [
        rows.cell(space, "messages_in", n, at=STARTS_AT + day * DAY) for day, n in amounts.items()
    ]


def _closed(owner: Tenant, starts_at: datetime, ends_at: datetime) -> Invoice:
    invoice, _ = invoice_closing.request_close(
        tenant=owner,
        starts_at=starts_at,
        ends_at=ends_at,
        by=STAFF,
        now_forced=True,
        now=AFTER_GRACE,
    )
    cells = [c for c in _cells(AddressSpace.objects.get(tenant=owner))
             if starts_at <= c.bucket_at < ends_at]  # fmt: skip
    sampled = frozenset(owner.spaces.values_list("id", flat=True))
    evidence = rows.evidence(cells, sampled_spaces=sampled, earlier=rows.earlier(invoice))
    return invoice_closing.close(invoice=invoice, evidence=evidence, by=STAFF)


def _uncut_net(owner: Tenant) -> int:
    net: int = previewing.preview(owner, ENDS_AT - timedelta(seconds=1)).document["net_minor"]
    return net


def test_a_preview_says_that_the_invoice_before_it_is_open(
    owner: Tenant, shop: AddressSpace
) -> None:
    instant = STARTS_AT + 9 * DAY
    invoice = _closed(owner, STARTS_AT, STARTS_AT + 7 * DAY)
    after_a_draft = previewing.preview(owner, instant).document["quality"]["text"]
    Invoice.objects.filter(pk=invoice.pk).update(state=Invoice.State.HELD)

    after_a_held_one = previewing.preview(owner, instant).document["quality"]["text"]

    assert "is not a draft yet" not in after_a_draft
    assert "is not a draft yet" in after_a_held_one


def test_closing_now_twice_costs_what_the_month_costs(owner: Tenant, shop: AddressSpace) -> None:
    shop.addresses.all().delete()
    edges = [STARTS_AT, STARTS_AT + 7 * DAY, STARTS_AT + 20.7 * DAY, ENDS_AT]

    made = [_closed(owner, *span) for span in pairwise(edges)]

    # 17,000,001 messages, 1 million included: 10 at 0.80 and 6.000001 at 0.50; 720 h at 0.02
    assert [invoice.state for invoice in made] == [Invoice.State.DRAFT] * 3
    assert sum(invoice.net_minor for invoice in made) == 4900 + 800 + 300 + 1440


def test_subscribing_to_the_same_prices_again_costs_nothing(
    owner: Tenant, shop: AddressSpace
) -> None:
    whole = _uncut_net(owner)
    PlanSubscription.objects.update(ends_at=STARTS_AT + 10 * DAY)
    again = Plan.objects.get(key="team")
    again.pk, again.version = None, again.version + 1
    again.save()
    PlanSubscription.objects.create(tenant=owner, plan=again, starts_at=STARTS_AT + 10 * DAY)

    assert _uncut_net(owner) == whole


def test_closing_around_an_upgrade_costs_what_the_month_costs(
    owner: Tenant, shop: AddressSpace
) -> None:
    """The first invoice counts on a million included; the dearer plan includes none from day 10."""
    change = STARTS_AT + 10 * DAY
    PlanSubscription.objects.update(ends_at=change)
    PlanSubscription.objects.create(tenant=owner, plan=rows.plan("business"), starts_at=change)
    whole = _uncut_net(owner)
    edges = [STARTS_AT, STARTS_AT + 7 * DAY, STARTS_AT + 20.7 * DAY, ENDS_AT]

    made = [_closed(owner, *span) for span in pairwise(edges)]

    assert sum(invoice.net_minor for invoice in made) == whole
    kinds = [{line.detail["kind"] for line in invoice.lines.all()} for invoice in made]
    assert ["repriced" in found for found in kinds] == [False, True, False]
    for invoice in made:
        assert invoice_verification.verify(invoice=invoice, cells=_cells(shop)).differences == ()


def test_every_part_of_a_month_can_be_verified(owner: Tenant, shop: AddressSpace) -> None:
    edges = [STARTS_AT, STARTS_AT + 7 * DAY, ENDS_AT]
    made = [_closed(owner, *span) for span in pairwise(edges)]

    for invoice in made:
        assert invoice_verification.verify(invoice=invoice, cells=_cells(shop)).differences == ()


def test_an_invoice_waits_for_the_earlier_one_of_its_month(
    owner: Tenant, shop: AddressSpace
) -> None:
    middle = STARTS_AT + 7 * DAY
    Invoice.objects.create(tenant=owner, starts_at=STARTS_AT, ends_at=middle)

    held = _closed(owner, middle, ENDS_AT)

    assert [reason["code"] for reason in held.held_reasons] == ["invoice.earlier_open"]


def test_an_earlier_invoice_that_was_closed_again_is_noticed_at_approval(
    owner: Tenant, shop: AddressSpace
) -> None:
    middle = STARTS_AT + 7 * DAY
    first, second = _closed(owner, STARTS_AT, middle), _closed(owner, middle, ENDS_AT)

    with pytest.raises(WaypostError) as refused:
        issuing.approve(invoice=second, by=STAFF)
    assert refused.value.error_code == "invoice.earlier_open"
    issuing.approve(invoice=first, by=STAFF)
    made = document.loaded(first.document)
    made["month_so_far"] = MonthSoFar().plain()
    Invoice.objects.filter(pk=first.pk).update(document=document.canonical(made))

    with pytest.raises(WaypostError, match="close this one again"):
        issuing.approve(invoice=second, by=STAFF)
    [difference] = invoice_verification.verify(invoice=second, cells=_cells(shop)).differences
    assert difference.startswith("manifest.month_before")


def test_spaces_and_addresses_are_read_in_one_statement(owner: Tenant, shop: AddressSpace) -> None:
    with CaptureQueriesContext(connection) as queries:
        found = KnownLifetimes.read(owner, MONTH)

    assert len(queries) == 1
    assert {lifetime.meter: lifetime.seconds for lifetime in found.lifetimes("EUR")} == {
        "space_hours": MONTH.seconds,
        "address_hours": MONTH.seconds,
    }


def test_prices_of_hours_are_read_once_a_plan_however_many_spaces(
    owner: Tenant, shop: AddressSpace
) -> None:
    for name in ("b", "c", "d"):
        rows.address(rows.space(owner, name))
    found = KnownLifetimes.read(owner, MONTH)

    with CaptureQueriesContext(connection) as queries:
        priced = found.lifetimes("EUR")

    assert (len(queries), len(priced)) == (2, 8)


def test_invoice_of_another_engine_is_not_called_wrong(owner: Tenant, shop: AddressSpace) -> None:
    invoice = _closed(owner, STARTS_AT, ENDS_AT)
    made = document.loaded(invoice.document)
    made["manifest"] = {**made["manifest"], "engine_version": "1"}
    del made["manifest"]["lived"], made["month_so_far"]
    invoice.document = document.canonical(made)

    [difference] = invoice_verification.verify(invoice=invoice, cells=_cells(shop)).differences

    assert difference.startswith("manifest.engine_version: made by engine 1")


def test_deletion_that_commits_after_the_close_changes_no_byte(
    owner: Tenant, shop: AddressSpace
) -> None:
    invoice = _closed(owner, STARTS_AT, ENDS_AT)
    late = {"deletion_requested_at": STARTS_AT, "deleted_at": ENDS_AT - DAY}
    AddressSpace.objects.filter(pk=shop.pk).update(**late, name="renamed")
    shop.addresses.update(**late)

    assert invoice_verification.verify(invoice=invoice, cells=_cells(shop)).differences == ()
