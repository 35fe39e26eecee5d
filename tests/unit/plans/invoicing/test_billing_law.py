"""The billing law: any order, duplication, batching, delay and crash point give the same invoice.

Histories come from ``tests/support/billing_histories.py``: true counters, shown to the product's
collector, whose rows are then delivered in wild ways. Three opinions must agree on what they bill:
the truth, booked while the history happened; the recompute from bronze for the close validation;
the oracle in ``reference_gold``, which stands for the Spark job. The same histories run through
Spark and Delta in tests/suites/lakehouse.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import example, given, settings
from hypothesis import strategies as st

from plans.invoicing.evidence import UsageKey
from plans.rating.periods import Period
from plans.usage.meters import MESSAGES_IN, MESSAGES_OUT
from plans.usage.reading import merged
from tests.support import billing_histories
from tests.support.billing_histories import CellKey, Delivery, History
from tests.support.lakehouse.samples import Landed, from_columns
from tests.support.plans import law_bills, reference_gold
from tests.support.plans.law_bills import SELLERS, invoice_bytes, seller_of
from workers.metering import recompute
from workers.metering.pipeline import Table


def gold_of(delivery: Delivery) -> dict[CellKey, int]:
    return reference_gold.gold(reference_gold.fold({}, delivery.batches))


@settings(max_examples=300, deadline=None)
@example(seed=1207, day=0)  # a history in which nothing is used
@given(seed=st.integers(0, 10**6), day=st.integers(0, 10**6))
def test_any_delivery_gives_the_same_invoice(seed: int, day: int) -> None:
    past = billing_histories.history(seed)
    truth = invoice_bytes(past, past.cells)

    for delivery in (billing_histories.in_order(past), billing_histories.disturbed(past, day)):
        assert invoice_bytes(past, gold_of(delivery)) == truth


@settings(max_examples=300, deadline=None)
@example(seed=1207, day=0)
@given(seed=st.integers(0, 10**6), day=st.integers(0, 10**6))
def test_late_usage_costs_what_it_had_cost_in_time(seed: int, day: int) -> None:
    """A part of the rows lands after the invoice was issued, and the next invoice corrects it."""
    past = billing_histories.history(seed)
    batches = billing_histories.disturbed(past, day).batches
    cut = day % (len(batches) + 1)
    state = reference_gold.fold({}, batches[:cut])
    at_close = reference_gold.gold(state)
    today = reference_gold.gold(reference_gold.fold(state, batches[cut:]))

    law_bills.require_lawful(past, at_close, today)


def test_late_histories_hold_every_kind_of_money() -> None:
    bills = [pair for seed in range(60) for pair in law_bills.paid(*_half_late(seed))]
    lines = [line for one in bills for line in one.rating.lines]

    kinds = {line.kind for line in lines}
    assert kinds >= {"fee", "usage", "repriced", "discount", "commitment", "correction"}
    assert any(line.kind == "correction" and line.amount_minor > 0 for line in lines)
    assert any(set(one.credit) == {"g0", "g1"} for one in bills)
    assert max(len(one.notes) for one in bills) == 3
    # Corrections with the tax of their invoice, with another rate, and with reverse charge.
    taxes = [tuple(row.category for row in one.rating.taxes) for one in bills if one.notes]
    assert set(map(len, taxes)) == {1, 2}
    assert any("AE" in row for row in taxes if len(row) == 2)
    assert any(
        len([t for t in note.taxes if t.tax_minor]) == 2 for one in bills for note in one.notes
    )


def _half_late(seed: int) -> tuple[History, dict[CellKey, int], dict[CellKey, int]]:
    past = billing_histories.history(seed)
    delivery = billing_histories.disturbed(past, seed)
    half = delivery.batches[: len(delivery.batches) // 2]
    return past, reference_gold.gold(reference_gold.fold({}, half)), gold_of(delivery)


@settings(max_examples=30, deadline=None)
@example(seed=1207, day=0)  # a history in which nothing is used
@given(seed=st.integers(0, 10**6), day=st.integers(0, 10**6))
def test_any_delivery_into_bronze_recomputes_to_what_happened(seed: int, day: int) -> None:
    past = billing_histories.history(seed)
    true: dict[UsageKey, int] = {}
    for cell, quantity in past.period_cells().items():
        key = UsageKey(cell.space_id, cell.address, cell.meter)
        true[key] = merged(cell.meter, true.get(key, 0), quantity)

    with TemporaryDirectory() as folder:
        asked = bronze_of(past, billing_histories.disturbed(past, day), Path(folder))

        assert recompute.totals(asked) == true
        assert recompute.counter_resets(asked) == ()


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_live_usage_is_what_gold_will_say(seed: int) -> None:
    """What the collector remembers for quotas, over all lives, without any lakehouse."""
    past = billing_histories.history(seed)

    used = {
        meter: sum(n for key, n in past.cells.items() if key.meter == meter)
        for meter in (MESSAGES_IN, MESSAGES_OUT)
    }
    assert sum(state.used["messages_in"] for state in past.states) == used[MESSAGES_IN]
    assert sum(state.used["messages_out"] for state in past.states) == used[MESSAGES_OUT]


def bronze_of(past: History, delivery: Delivery, root: Path) -> recompute.Question:
    """Bring a delivery into a bronze table; return the question about the history's period."""
    landed = Landed(root)
    landed.many([[from_columns(row) for row in batch.rows] for batch in delivery.batches])
    pin = Table(str(landed.table.metadata().id), int(landed.table.version()))
    period = Period(past.starts_at, past.ends_at)
    return recompute.question(root, pin, billing_histories.TENANT, period)


def test_histories_hold_every_kind_of_event() -> None:
    """A law over histories in which nothing happens would prove nothing."""
    pasts = [billing_histories.history(seed) for seed in range(60)]
    rows = [row for past in pasts for row in past.rows]

    assert {seller_of(past) for past in pasts} == set(SELLERS)
    assert any(past.crashes for past in pasts)
    assert any(past.hidden for past in pasts)
    assert any(row["epoch"] > 0 for row in rows)
    assert any(len({row["date"] for row in past.rows}) > 1 for past in pasts)
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
