"""What the tenants of the billing law pay: invoices, late usage, credit and credit notes.

Who uses it: the billing-law tests, in plain Python (tests/unit) and through Spark and Delta
(tests/suites/lakehouse). Each history of ``billing_histories`` has two plans, a legal entity with
its currency, rounding and tax, and the discounts and commitments that its seed chooses. In some
histories the second invoice has another tax than the first, whose usage it corrects.
"""

import math
from collections.abc import Iterable, Mapping
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
from plans.rating.crediting import Credited, TooMuch
from plans.rating.credits import PREPAID, PROMOTIONAL, Grant
from plans.rating.money import Rounding
from plans.rating.month_so_far import MonthSoFar
from plans.rating.periods import Period, month_of
from plans.rating.price_rules import PriceRule, Tier
from plans.rating.pricing import Rating, SellerRule
from plans.rating.taxes import TaxRule
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
# The tax of the second invoice, by the seed; None: that of the first.
LATER = (
    None,
    TaxRule(Decimal(21), "S"),
    TaxRule(Decimal(0), "AE", "Reverse charge"),
    TaxRule(Decimal("5.5")),
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


def sellers_of(past: History) -> tuple[SellerRule, SellerRule]:
    """Return currency, rounding and tax of the first invoice of a history, and of the second."""
    _, first = seller_of(past)
    later = LATER[past.seed // 2 % len(LATER)]
    return first, first if later is None else first.taxed(later)


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
    tax = sellers_of(past)[0].tax
    late = corrections.changed([Correction(facts.month, _NUMBER, 1, facts.so_far, tax)], read)
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
    _, seller = sellers_of(past)
    return replace(facts, period=period, segments=(plan,), so_far=so_far, seller_rule=seller)


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
    return Paid(rating, used, tuple(notes(past, rating)) if takes_notes(rating) else ())


def takes_notes(rating: Rating) -> bool:
    """Return whether credit notes may take something back: net and total are above zero."""
    return min(rating.net_minor, rating.net_minor + rating.tax_minor) > 0


def notes(past: History, rating: Rating) -> list[Credited]:
    """Take back parts of up to two lines, and then all that is left."""
    random = Random(f"notes-{past.seed}")
    seller = seller_of(past)[1].taxed(rating.taxes[0].tax)
    charged = {n: line.amount_minor for n, line in enumerate(rating.lines, start=1)}
    taxes = {n: line.tax for n, line in enumerate(rating.lines, start=1) if line.tax}
    before: dict[int, int] = {}
    found = []
    for position in random.sample(sorted(charged), k=min(2, len(charged))):
        left = min(charged[position], rating.net_minor - sum(before.values()) - 1)
        if left > 0:
            wanted = {position: random.randint(1, left)}
            try:
                found.append(crediting.credit(charged, before, wanted, seller, taxes))
            except TooMuch:
                # Of one tax every part may be taken back that leaves something before tax.
                assert len(rating.taxes) > 1
                continue
            before.update(wanted)
    return [*found, crediting.credit(charged, before, None, seller, taxes)]


def require_lawful(past: History, at_close: Cells, today: Cells) -> None:
    """Assert the law of money for a history whose rows were partly late.

    ``today`` is what the pipeline knows at the end; it must be what happened. Both invoices of the
    month then add up to one invoice that knew everything, each is taxed and rounded by the rule of
    its legal entity, corrections with the tax of the first invoice. Credit pays no more than the
    total and than was granted, and credit notes take back exactly net and each tax.
    """
    assert today == dict(past.cells)
    bills = paid(past, at_close, today)
    assert sum(one.rating.net_minor for one in bills) == whole(past, past.cells).net_minor
    granted = {row.id: row.left_minor for row in _grants(past)}
    for one, due in zip(bills, _taxes_due(past, bills), strict=True):
        assert {row.tax.percent: row.tax_minor for row in one.rating.taxes} == due
        assert sum(one.credit.values()) <= max(0, one.total_minor)
        assert bool(one.notes) is takes_notes(one.rating)
        if one.notes:
            assert sum(note.net_minor for note in one.notes) == one.rating.net_minor
            assert taken_back(one.notes, due) == due
            assert [note.is_rest for note in one.notes[:-1]] == [False] * (len(one.notes) - 1)
        granted = {id: left - one.credit.get(id, 0) for id, left in granted.items()}
    assert min(granted.values(), default=0) >= 0


def taken_back(notes: Iterable[Credited], due: Mapping[Decimal, int]) -> dict[Decimal, int]:
    """Return the tax that all notes take back at each rate of ``due``."""
    found = dict.fromkeys(due, 0)
    for row in (row for note in notes for row in note.taxes):
        found[row.percent] += row.tax_minor
    return found


def _taxes_due(past: History, bills: tuple[Paid, Paid]) -> list[dict[Decimal, int]]:
    """Return {rate: tax} of both invoices, from the kinds of their lines alone."""
    before, after = (seller.tax_percent for seller in sellers_of(past))
    first, second = (one.rating.lines for one in bills)
    late = [line.amount_minor for line in second if line.kind == "correction"]
    own = sum(line.amount_minor for line in second if line.kind != "correction")
    nets = [{before: sum(line.amount_minor for line in first)}, {after: own}]
    if late:
        nets[1][before] = nets[1].get(before, 0) + sum(late)
    return [{rate: _tax(net, rate, seller_of(past)[1].rounding) for rate, net in row.items()}
            for row in nets]  # fmt: skip


def _tax(net_minor: int, percent: Decimal, rounding: Rounding) -> int:
    """Round the tax by the words of the rule: a half goes away from zero, or to the even one."""
    exact = Fraction(net_minor) * Fraction(percent) / 100
    low = math.floor(exact)
    rest = exact - low
    if rest != Fraction(1, 2):
        return low + (rest > Fraction(1, 2))
    if rounding is Rounding.HALF_EVEN:
        return low + low % 2
    return low if exact < 0 else low + 1
