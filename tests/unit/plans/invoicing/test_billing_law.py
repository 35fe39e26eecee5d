"""The billing law: any order, duplication, batching, delay and crash point give the same invoice.

Histories come from ``tests/support/billing_histories.py``: true counters, shown to the product's
collector, whose rows are then delivered in wild ways. Three opinions must agree on what they bill:
the truth, booked while the history happened; the recompute from bronze for the close validation;
the oracle in ``reference_gold``, which stands for the Spark job. The same histories run through
Spark and Delta in tests/suites/lakehouse.
"""

from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from plans.invoicing import document, rated_period
from plans.invoicing.billing_inputs import KnownLifetimes
from plans.invoicing.evidence import UsageKey
from plans.invoicing.facts import Facts
from plans.rating.billable import Segment
from plans.rating.money import Rounding
from plans.rating.periods import Period, month_of
from plans.rating.price_rules import PriceRule, Tier
from plans.rating.pricing import SellerRule
from plans.rating.terms import Commitment, Discount, Terms
from plans.usage.meters import MESSAGES_IN, MESSAGES_OUT, Model
from plans.usage.reading import UsageCell, merged
from tests.support import billing_histories
from tests.support.billing_histories import BUCKET, CellKey, Delivery, History
from tests.support.lakehouse.samples import Landed, from_columns
from tests.support.plans import reference_gold
from workers.metering import recompute
from workers.metering.pipeline import Table

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

# Each history belongs to one of them, by its seed.
SELLERS = (
    ("wp", SellerRule("EUR", Rounding.HALF_EVEN, Decimal(19))),
    ("wp", SellerRule("CHF", Rounding.HALF_EVEN, Decimal("8.1"), "S")),
    ("wp-inc", SellerRule("USD", Rounding.HALF_UP, Decimal("6.25"))),
    ("wp-kk", SellerRule("JPY", Rounding.HALF_UP, Decimal(10))),
    ("wp-inc", SellerRule("KWD", Rounding.HALF_EVEN, Decimal(0), "E", "Section 4")),
)


def invoice_bytes(past: History, cells: Mapping[CellKey, int]) -> bytes:
    """Return the document of the history's period: two plans, the second from the middle on."""
    usage = [UsageCell(*key, quantity) for key, quantity in cells.items()]
    facts = _facts(past)
    rated = rated_period.rate(facts, rated_period.from_cells(usage, billing_histories.TENANT))
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


@settings(max_examples=30, deadline=None)
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


def seller_of(past: History) -> tuple[str, SellerRule]:
    """Return the legal entity of a history, with its currency, rounding and tax."""
    return SELLERS[past.seed % len(SELLERS)]


def _terms_of(past: History, period: Period) -> Terms:
    kinds = past.seed // len(SELLERS) % 4
    discounts = (Discount("p", "Partner", Decimal("12.5")), Discount("w", "Welcome", None, 301))
    least = (Commitment("c", "Deal", 60_000, period),)
    return Terms(discounts if kinds % 2 else (), least if kinds // 2 else ())


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
        legal_entity=(seller := seller_of(past))[0],
        seller_rule=seller[1],
        terms=_terms_of(past, period),
        payment_days=14,
        catalogue_number=1,
        segments=tuple(
            Segment(span, f"plan-{n}", 1, f"Plan {n}", 4900, RULES) for n, span in enumerate(spans)
        ),
        lifetimes=(),
        known_lifetimes=KnownLifetimes((), {}),
    )
