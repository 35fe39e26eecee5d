"""What the tenants of the billing law pay: invoices, late usage, credit and credit notes.

Who uses it: the billing-law tests, in plain Python (tests/unit) and through Spark and Delta
(tests/suites/lakehouse). Each history of ``billing_histories`` has two plans, a legal entity with
its currency, rounding and tax, and the discounts and commitments that its seed chooses.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from random import Random

from plans.invoicing import corrections, document, rated_period
from plans.invoicing.billing_inputs import KnownLifetimes
from plans.invoicing.facts import Correction, Facts
from plans.rating import crediting, credits
from plans.rating.billable import Segment
from plans.rating.crediting import Credited
from plans.rating.credits import PREPAID, PROMOTIONAL, Grant
from plans.rating.money import Rounding
from plans.rating.month_so_far import MonthSoFar
from plans.rating.periods import Period, month_of
from plans.rating.price_rules import PriceRule, Tier
from plans.rating.pricing import Rating, SellerRule
from plans.rating.terms import Commitment, Discount, Terms
from plans.usage.meters import Model
from plans.usage.reading import UsageCell
from tests.support.billing_histories import BUCKET, CellKey, History

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
Cells = Mapping[CellKey, int]
HOUR = timedelta(hours=1)
_ZONE = "Europe/Berlin"
_NUMBER = "WP-2026-000001"


@dataclass(frozen=True)
class Paid:
    """One invoice and how it is settled, in minor units.

    ``credit`` is what grants pay of it, {grant's id: amount}. ``notes`` are credit notes that take
    back first some parts and then all of the rest; an invoice of zero or less has none.
    """

    rating: Rating
    credit: Mapping[str, int]
    notes: tuple[Credited, ...]

    @property
    def total_minor(self) -> int:
        return self.rating.net_minor + self.rating.tax_minor


def seller_of(past: History) -> tuple[str, SellerRule]:
    """Return the legal entity of a history, with its currency, rounding and tax."""
    return SELLERS[past.seed % len(SELLERS)]


def invoice_bytes(past: History, cells: Cells) -> bytes:
    """Return the document of the history's period: two plans, the second from the middle on."""
    facts = facts_of(past)
    rated = rated_period.rate(facts, _reader(past, cells))
    made = document.build(facts, rated, manifest={}, quality={}, as_of=None)
    return document.canonical(made).encode()


def paid(past: History, at_close: Cells, today: Cells) -> tuple[Paid, Paid]:
    """Return the invoice of the history's period, and the next one of the same month.

    ``at_close`` is the usage that was known when the first was made. The second has the hour after
    the period, and corrects the first by ``today``, the usage that is known when it is made.
    """
    first = rated_period.rate(facts_of(past), _reader(past, at_close)).rating
    read = _reader(past, today)
    facts = _hour_after(past, first.so_far)
    # As ``corrections.candidates`` does for an issued invoice of the same month.
    late = corrections.changed([Correction(facts.month, _NUMBER, 1, facts.so_far)], read)
    second = rated_period.rate(replace(facts, corrections=late), read).rating
    grants = _grants(past)
    settled = _settled(past, first, grants, past.ends_at)
    left = [replace(row, left_minor=row.left_minor - settled.credit.get(row.id, 0))
            for row in grants]  # fmt: skip
    return settled, _settled(past, second, left, facts.period.ends_at)


def whole(past: History, cells: Cells) -> Rating:
    """Return what one invoice for the period and the hour after it costs."""
    facts = facts_of(past)
    period = Period(past.starts_at, past.ends_at + HOUR)
    # The last plan of the period goes on in the hour after it.
    first, last = facts.segments
    last = replace(last, period=Period(last.period.starts_at, period.ends_at))
    both = replace(facts, period=period, segments=(first, last))
    return rated_period.rate(both, _reader(past, cells)).rating


def facts_of(past: History) -> Facts:
    """Return the facts of the history's period."""
    period = Period(past.starts_at, past.ends_at)
    middle = past.starts_at + (past.ends_at - past.starts_at) // BUCKET // 2 * BUCKET
    spans = (Period(past.starts_at, middle), Period(middle, past.ends_at))
    legal_entity, seller_rule = seller_of(past)
    return Facts(
        tenant_id=past.tenant_id,
        period=period,
        month=month_of(past.starts_at + timedelta(seconds=1), _ZONE),
        time_zone=_ZONE,
        buyer={},
        seller={},
        legal_entity=legal_entity,
        seller_rule=seller_rule,
        terms=_terms_of(past, period),
        payment_days=14,
        catalogue_number=1,
        segments=tuple(
            Segment(span, f"plan-{n}", 1, f"Plan {n}", 4900, RULES) for n, span in enumerate(spans)
        ),
        lifetimes=(),
        known_lifetimes=KnownLifetimes((), {}),
    )


def _hour_after(past: History, so_far: MonthSoFar) -> Facts:
    """Return the facts of the hour after the period; ``so_far`` is the month before it."""
    facts = facts_of(past)
    period = Period(past.ends_at, past.ends_at + HOUR)
    plan = replace(facts.segments[-1], period=period)
    return replace(facts, period=period, segments=(plan,), so_far=so_far)


def _reader(past: History, cells: Cells) -> rated_period.Reader:
    usage = [UsageCell(*key, quantity) for key, quantity in cells.items()]
    return rated_period.from_cells(usage, past.tenant_id)


def _terms_of(past: History, period: Period) -> Terms:
    kinds = past.seed // len(SELLERS) % 4
    discounts = (Discount("p", "Partner", Decimal("12.5")), Discount("w", "Welcome", None, 301))
    least = (Commitment("c", "Deal", 60_000, period),)
    return Terms(discounts if kinds % 2 else (), least if kinds // 2 else ())


def _grants(past: History) -> list[Grant]:
    """Return up to three grants, of which one expires between the two invoices."""
    random = Random(f"grants-{past.seed}")
    kinds = ((PROMOTIONAL, past.ends_at + timedelta(minutes=30)), (PREPAID, None), (PREPAID, None))
    return [
        Grant(f"g{n}", kind, random.randrange(1, 3000), expires_at, n)
        for n, (kind, expires_at) in enumerate(kinds)
        if random.random() < 0.7
    ]


def _settled(past: History, rating: Rating, grants: list[Grant], at: datetime) -> Paid:
    due = rating.net_minor + rating.tax_minor
    used = {use.grant.id: use.used_minor for use in credits.burn(due, grants, at)}
    return Paid(rating, used, tuple(_notes(past, rating)) if rating.net_minor > 0 else ())


def _notes(past: History, rating: Rating) -> list[Credited]:
    """Take back parts of up to two lines, and then all that is left."""
    random, (_, seller) = Random(f"notes-{past.seed}"), seller_of(past)
    charged = {n: line.amount_minor for n, line in enumerate(rating.lines, start=1)}
    before: dict[int, int] = {}
    notes = []
    for position in random.sample(sorted(charged), k=min(2, len(charged))):
        left = min(charged[position], rating.net_minor - sum(before.values()) - 1)
        if left > 0:
            wanted = {position: random.randint(1, left)}
            notes.append(crediting.credit(charged, before, wanted, seller))
            before.update(wanted)
    return [*notes, crediting.credit(charged, before, None, seller)]


def require_lawful(past: History, at_close: Cells, today: Cells) -> None:
    """Assert the law of money for a history whose rows were partly late.

    ``today`` is what the pipeline knows at the end; it must be what happened. Both invoices of the
    month then add up to one invoice that knew everything, each is taxed and rounded by the rule of
    its legal entity, credit pays no more than the total and than was granted, and credit notes take
    back exactly net and tax.
    """
    assert today == dict(past.cells)
    bills = paid(past, at_close, today)
    assert sum(one.rating.net_minor for one in bills) == whole(past, past.cells).net_minor
    granted = {row.id: row.left_minor for row in _grants(past)}
    for one in bills:
        assert one.rating.tax_minor == _tax(one.rating.net_minor, seller_of(past)[1])
        assert sum(one.credit.values()) <= max(0, one.total_minor)
        assert sum(note.net_minor for note in one.notes) == max(0, one.rating.net_minor)
        assert sum(note.tax_minor for note in one.notes) == max(0, one.rating.tax_minor)
        granted = {id: left - one.credit.get(id, 0) for id, left in granted.items()}
    assert min(granted.values(), default=0) >= 0


def _tax(net_minor: int, seller: SellerRule) -> int:
    """Round the tax by the words of the rule: a half goes away from zero, or to the even one."""
    exact = Fraction(net_minor) * Fraction(seller.tax_percent) / 100
    low = math.floor(exact)
    rest = exact - low
    if rest != Fraction(1, 2):
        return low + (rest > Fraction(1, 2))
    if seller.rounding is Rounding.HALF_EVEN:
        return low + low % 2
    return low if exact < 0 else low + 1
