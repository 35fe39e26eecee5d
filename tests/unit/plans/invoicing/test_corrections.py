"""Usage that lands after its invoice was issued is billed by correction lines of a later one.

Prices: 1.00 a message, 0.50 where a month has more than 1,000.
"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plans.catalog import publishing
from plans.invoicing import (
    corrections,
    discounting,
    document,
    evidence,
    invoice_closing,
    invoice_verification,
    issuing,
    rendering,
)
from plans.invoicing.corrections import PreviousInvoiceOpen
from plans.models import Invoice
from plans.rating import pricing
from plans.rating.periods import Period
from plans.usage import reading
from plans.usage.reading import UsageCell
from tenants.models import Tenant
from tests.support.plans import billing_rows as rows
from tests.support.plans.billing_rows import ENDS_AT, STAFF, STARTS_AT
from tests.unit.plans.rating.test_pricing_plan_changes import (
    MONTH,
    SELLER,
    Piece,
    invoices,
    months,
    uncut,
)

MIDDLE = STARTS_AT + timedelta(days=15)
JUNE, JULY = (datetime(2026, month, 1, tzinfo=UTC) for month in (6, 7))
LATER = datetime(2026, 7, 9, tzinfo=UTC)


@pytest.fixture
def owner(db: None) -> Tenant:
    owner = rows.tenant(to=rows.plan("bulk"))
    rows.space(owner, space_plan=publishing.space_plan("free-of-charge"))
    return owner


def used(owner: Tenant, **by_day: int) -> list[UsageCell]:
    """Copy in messages by day of April: ``d3=5``; returns the cells."""
    space = owner.spaces.get()
    days = {STARTS_AT + timedelta(days=int(day[1:]) - 1): n for day, n in by_day.items()}
    return rows.used(*(rows.cell(space, "messages_in", n, at=day) for day, n in days.items()))


def closed(owner: Tenant, starts_at: datetime, ends_at: datetime) -> Invoice:
    invoice, _ = invoice_closing.request_close(
        tenant=owner, starts_at=starts_at, ends_at=ends_at, by=STAFF, now_forced=True, now=LATER
    )
    return invoice_closing.close(invoice=invoice, evidence=flawless(owner, invoice), by=STAFF)


def flawless(owner: Tenant, invoice: Invoice) -> evidence.Evidence:
    cells = invoicing_cells(owner)
    mine = [cell for cell in cells if invoice.starts_at <= cell.bucket_at < invoice.ends_at]
    sampled = frozenset(owner.spaces.values_list("id", flat=True))
    return rows.evidence(
        mine, as_of=invoice.ends_at, sampled_spaces=sampled, earlier=rows.earlier(invoice)
    )


def invoicing_cells(owner: Tenant) -> list[UsageCell]:
    return list(reading.cells(owner.id, STARTS_AT, JULY))


def issued(owner: Tenant, starts_at: datetime, ends_at: datetime) -> Invoice:
    approved = issuing.approve(invoice=closed(owner, starts_at, ends_at), by=STAFF)
    return issuing.issue(invoice=approved, by=STAFF, now=LATER)


def correction_lines(invoice: Invoice) -> list[tuple[str, int, int]]:
    lines = document.loaded(invoice.document)["lines"]
    return [
        (line["detail"]["corrects"], int(line["quantity"]), line["amount_minor"])
        for line in lines
        if line["kind"] == "correction"
    ]


def test_late_usage_is_billed_by_a_line_of_the_next_invoice_once(owner: Tenant) -> None:
    used(owner, d3=7)
    april = issued(owner, STARTS_AT, ENDS_AT)
    used(owner, d3=12, d9=2)

    may, june = issued(owner, ENDS_AT, JUNE), issued(owner, JUNE, JULY)

    assert correction_lines(may) == [(april.number, 7, 700)]
    assert (may.net_minor, may.tax_minor, june.net_minor) == (700, 133, 0)
    assert (may.quality["flagged"], june.quality["flagged"]) == (True, False)
    page = rendering.html(document.loaded(may.document))
    assert f"Correction of {april.number}: Messages, in and out" in page
    assert "correction lines here say what that changes" in page


def test_a_correction_does_not_count_toward_the_minimum_of_a_later_month(owner: Tenant) -> None:
    span = Period(ENDS_AT, JULY)
    discounting.commit(tenant=owner, title="Minimum", minimum_minor=5000, span=span, by=STAFF)
    used(owner, d3=200)
    issued(owner, STARTS_AT, ENDS_AT)
    used(owner, d3=300)

    may = document.loaded(closed(owner, ENDS_AT, JUNE).document)

    found = [(line["kind"], line["amount_minor"]) for line in may["lines"] if line["amount_minor"]]
    assert found == [("commitment", 5000), ("correction", 10_000)]


def test_late_usage_that_reaches_a_cheaper_tier_gives_back(owner: Tenant) -> None:
    used(owner, d3=900)
    april = issued(owner, STARTS_AT, ENDS_AT)
    used(owner, d3=1100)

    may = issued(owner, ENDS_AT, JUNE)

    assert sorted(correction_lines(may)) == [
        (april.number, -900, -90000), (april.number, 1100, 55000),
    ]  # fmt: skip
    assert (may.net_minor, may.payable_minor) == (-35000, 0)


def test_usage_that_comes_later_still_corrects_the_correction(owner: Tenant) -> None:
    used(owner, d3=7)
    april = issued(owner, STARTS_AT, ENDS_AT)
    used(owner, d3=12)
    issued(owner, ENDS_AT, JUNE)
    used(owner, d3=20)

    june = issued(owner, JUNE, JULY)

    assert correction_lines(june) == [(april.number, 8, 800)]
    assert [(late["billed"], late["now"]) for late in june.quality["late"]] == [(12, 20)]


def test_the_next_invoice_of_the_same_month_corrects_too(owner: Tenant) -> None:
    used(owner, d3=900)
    first = issued(owner, STARTS_AT, MIDDLE)
    used(owner, d3=950, d20=100)

    second = issued(owner, MIDDLE, ENDS_AT)
    third = issued(owner, ENDS_AT, JUNE)

    assert correction_lines(second) == [(first.number, 50, 5000)]
    assert first.net_minor + second.net_minor == 1050 * 50
    assert (correction_lines(third), third.net_minor) == ([], 0)


def test_corrections_recompute_to_the_same_bytes(owner: Tenant) -> None:
    used(owner, d3=900)
    made = [issued(owner, STARTS_AT, MIDDLE)]
    used(owner, d3=950, d20=100)
    made.append(issued(owner, MIDDLE, ENDS_AT))
    used(owner, d3=951, d20=101)
    made.append(issued(owner, ENDS_AT, JUNE))

    assert len(correction_lines(made[2])) == 1
    for invoice in made[1:]:
        since = corrections.usage_since(invoice)
        cells = [cell for cell in invoicing_cells(owner) if cell.bucket_at >= since]
        found = invoice_verification.verify(invoice=invoice, cells=cells).differences
        assert (found == ()) is (invoice is made[2])  # the second saw the usage of its own close


def test_a_correction_is_taken_back_when_the_late_rows_are(owner: Tenant) -> None:
    used(owner, d3=7)
    april = issued(owner, STARTS_AT, ENDS_AT)
    used(owner, d3=12)
    issued(owner, ENDS_AT, JUNE)
    used(owner, d3=7)

    june = issued(owner, JUNE, JULY)

    assert correction_lines(june) == [(april.number, -5, -500)]


def test_two_drafts_with_one_correction_are_not_both_approved(owner: Tenant) -> None:
    used(owner, d3=7)
    issued(owner, STARTS_AT, ENDS_AT)
    used(owner, d3=12)
    may, june = closed(owner, ENDS_AT, JUNE), closed(owner, JUNE, JULY)
    issuing.approve(invoice=may, by=STAFF)

    with pytest.raises(PreviousInvoiceOpen, match="close this one again"):
        issuing.approve(invoice=june, by=STAFF)
    again = closed(owner, JUNE, JULY)

    assert correction_lines(again) == []
    issuing.approve(invoice=again, by=STAFF)


def test_an_invoice_closed_late_does_not_repeat_what_a_later_one_corrected(owner: Tenant) -> None:
    used(owner, d3=7)
    issued(owner, STARTS_AT, ENDS_AT)
    used(owner, d3=12)

    june, may = issued(owner, JUNE, JULY), issued(owner, ENDS_AT, JUNE)

    assert (len(correction_lines(june)), correction_lines(may)) == (1, [])


def test_usage_of_an_invoice_without_number_waits(owner: Tenant) -> None:
    used(owner, d3=7)
    closed(owner, STARTS_AT, ENDS_AT)
    used(owner, d3=12)

    assert correction_lines(closed(owner, ENDS_AT, JUNE)) == []


@settings(max_examples=150, deadline=None)
@given(pieces=months(), late=st.lists(st.integers(0, 3_000), min_size=7, max_size=7))
def test_a_month_with_late_usage_costs_what_it_had_cost_in_time(
    pieces: list[Piece], late: list[int]
) -> None:
    """Whatever plans, closes and models: invoices and correction together are the right price."""
    grown = [
        replace(piece, use={meter: n + more for meter, n in piece.use.items()})
        for piece, more in zip(pieces, late, strict=False)
    ]
    made = invoices(pieces)
    state = made[-1].so_far

    right = replace(state, segments=invoices(grown)[-1].so_far.segments)
    correction = pricing.rate([], [], SELLER, MONTH, right)

    assert sum(r.net_minor for r in [*made, correction]) == uncut(grown).net_minor
    assert all(line.kind == "repriced" for line in correction.lines)
