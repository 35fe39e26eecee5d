"""The billing law: any order, duplication, batching, delay and crash point give the same invoice.

Histories and deliveries come from ``tests/billing_histories.py``; state and gold from the oracle in
``reference_gold``. The same histories run through Spark and Delta in tests/lakehouse.
"""

import json
from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plans.invoicing import document, rating
from plans.invoicing.facts import Facts
from plans.invoicing.lived import Lived
from plans.money import Rounding
from plans.periods import Period, month_of
from plans.pricing import Model, PriceRule, Segment, SellerRule, Tier
from plans.usage import UsageCell
from tests import billing_histories
from tests.billing_histories import BUCKET, CellKey, Delivery, History
from tests.unit.plans_billing import reference_gold

SCHEMA = Path(__file__).parents[3] / "lakehouse" / "bronze_schema.json"
RULES = (
    PriceRule(
        "messages",
        "Messages",
        Model.GRADUATED,
        "thousand messages",
        1000,
        (Tier(Decimal(20), Decimal("0.0137")), Tier(None, Decimal("0.0091"))),
        included=10_000_000,
    ),
    PriceRule(
        "connection_ms",
        "Connection time",
        Model.UNIT,
        "connection-hours",
        3_600_000,
        (Tier(None, Decimal("0.0003")),),
    ),
    PriceRule(
        "connections_opened",
        "Connections",
        Model.PACKAGE,
        "ten connections",
        10,
        (Tier(None, Decimal("0.01")),),
    ),
    PriceRule(
        "peak_connections",
        "Peak",
        Model.UNIT,
        "connections",
        1,
        (Tier(None, Decimal("0.02")),),
        is_peak=True,
    ),
    PriceRule(
        "stored_byte_ms",
        "Stored",
        Model.VOLUME,
        "GiB-hours",
        1024**3 * 3_600_000,
        (Tier(None, Decimal("0.11")),),
    ),
)


def invoice_bytes(past: History, cells: Mapping[CellKey, int]) -> bytes:
    """Return the document of the history's period: two plans, the second from the middle on."""
    usage = [UsageCell(*key, quantity) for key, quantity in cells.items()]
    facts = _facts(past)
    rated = rating.rate(facts, rating.from_cells(usage, billing_histories.TENANT))
    made = document.build(facts, rated, manifest={}, quality={}, as_of=None)
    return document.canonical(made).encode()


def gold_of(delivery: Delivery) -> dict[CellKey, int]:
    return reference_gold.gold(reference_gold.fold({}, delivery.batches))


@settings(max_examples=250, deadline=None)
@given(seed=st.integers(0, 10**6), day=st.integers(0, 10**6))
def test_any_delivery_gives_the_same_invoice(seed: int, day: int) -> None:
    past = billing_histories.history(seed)
    truth = invoice_bytes(past, past.cells)

    for delivery in (billing_histories.in_order(past), billing_histories.disturbed(past, day)):
        assert invoice_bytes(past, gold_of(delivery)) == truth


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10**6), data=st.data())
def test_a_crash_between_state_and_gold_changes_nothing(seed: int, data: st.DataObject) -> None:
    """The state took some batches, the job died, and the next run takes them all again."""
    past = billing_histories.history(seed)
    batches = billing_histories.disturbed(past, seed).batches
    died_at = data.draw(st.integers(0, len(batches)))

    state = reference_gold.fold({}, batches[:died_at])
    cells = reference_gold.gold(reference_gold.fold(state, batches))

    assert cells == past.cells


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_a_late_batch_only_adds_and_then_completes(seed: int) -> None:
    """A delay inside the window: usage is never above the truth, and equal once all is there."""
    past = billing_histories.history(seed)
    batches = billing_histories.in_order(past).batches
    early, late = batches[: len(batches) // 2], batches[len(batches) // 2 :]

    before = reference_gold.gold(reference_gold.fold({}, early))
    after = reference_gold.gold(reference_gold.fold(reference_gold.fold({}, late), early))

    assert all(quantity <= past.cells[key] for key, quantity in before.items())
    assert after == past.cells


def test_hidden_usage_is_bounded_by_the_crashes() -> None:
    """Nothing is hidden without a life or an address that ended unseen."""
    for past in map(billing_histories.history, range(100)):
        ended_unseen = past.crashes or any(row["epoch"] > 0 for row in past.rows)

        assert not past.hidden or ended_unseen


def test_histories_hold_every_kind_of_event() -> None:
    """A law over histories in which nothing happens would prove nothing."""
    pasts = [billing_histories.history(seed) for seed in range(60)]
    rows = [row for past in pasts for row in past.rows]

    assert any(past.crashes for past in pasts)
    assert any(past.hidden for past in pasts)
    assert any(row["epoch"] > 0 for row in rows)
    assert any(row["date"] != past.rows[0]["date"] for past in pasts for row in past.rows)
    assert {past.ends_at.minute % 15 == 0 for past in pasts} == {True, False}
    assert any(billing_histories.disturbed(past, 1).lost for past in pasts)
    meters = {key.meter for past in pasts for key in past.period_cells()}
    assert meters == {
        "messages_in",
        "messages_out",
        "connections_opened",
        "connection_ms",
        "stored_byte_ms",
        "peak_connections",
    }


def test_rows_have_exactly_the_columns_of_bronze() -> None:
    columns = [column["name"] for column in json.loads(SCHEMA.read_text())["columns"]]

    for row in billing_histories.history(3).rows:
        assert list(row) == columns
    for batch in billing_histories.disturbed(billing_histories.history(3), 3).batches:
        assert {row["batch_id"] for row in batch.rows} == {batch.id}


def test_the_law_notices_a_lost_end_of_life() -> None:
    """The comparison can fail: without the last snapshot of a life the invoice is another."""
    past = next(h for h in map(billing_histories.history, range(50)) if h.crashes)
    source, boot_id = past.rows[0]["source"], past.rows[0]["boot_id"]
    rows = billing_histories.without_end_of_life(past, source, boot_id)
    cells = reference_gold.gold(
        reference_gold.fold({}, [billing_histories.Batch("b", tuple(rows))])
    )

    assert cells != past.cells


@pytest.mark.parametrize("seed", range(5))
def test_a_fall_is_made_where_it_is_said(seed: int) -> None:
    rows, fallen = billing_histories.with_fall(billing_histories.history(seed))

    earlier = [
        row["messages_in"]
        for row in rows[: rows.index(fallen)]
        if all(row[c] == fallen[c] for c in ("source", "boot_id", "address", "epoch"))
    ]
    assert fallen["messages_in"] < max(earlier)


def _facts(past: History) -> Facts:
    period = Period(past.starts_at, past.ends_at)
    middle = past.starts_at + (past.ends_at - past.starts_at) // BUCKET // 2 * BUCKET
    spans = (Period(past.starts_at, middle), Period(middle, past.ends_at))
    return Facts(
        tenant_id=billing_histories.TENANT,
        period=period,
        month=month_of(past.starts_at + timedelta(seconds=1), "Europe/Berlin"),
        time_zone="Europe/Berlin",
        buyer={},
        seller={},
        legal_entity="wp",
        seller_rule=SellerRule("EUR", Rounding.HALF_EVEN, Decimal(19)),
        payment_days=14,
        catalogue_number=1,
        segments=tuple(
            Segment(span, f"plan-{n}", 1, f"Plan {n}", 4900, RULES) for n, span in enumerate(spans)
        ),
        lifetimes=(),
        lived=Lived((), {}),
    )
