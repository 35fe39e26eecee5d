"""The law with terms: however closes divide a month, it costs what an oracle says.

Random histories have trials, discounts, commitments, taxes, late usage, credit and credit notes, in
currencies with 0, 2 and 3 decimals, of legal entities that round and tax differently.
The oracle below shares no code with the product: it knows usage of the whole month only, computes
in exact fractions and rounds each price of the month once.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plans.rating import crediting, credits, pricing
from plans.rating.billable import Segment, SpaceUsage
from plans.rating.crediting import Credited, NothingLeft, TooMuch
from plans.rating.credits import PREPAID, PROMOTIONAL, Grant
from plans.rating.money import Rounding
from plans.rating.month_so_far import MonthSoFar
from plans.rating.periods import Period
from plans.rating.price_rules import PriceRule, Tier
from plans.rating.pricing import Rating, SellerRule
from plans.rating.taxes import TaxRule
from plans.rating.terms import Commitment, Discount, Terms
from plans.usage.meters import Model

STARTS_AT = datetime(2026, 4, 1, tzinfo=UTC)
MONTH = Period(STARTS_AT, datetime(2026, 5, 1, tzinfo=UTC))
DAYS = 30
FEE = "plan_fee"
TAXES = (TaxRule(Decimal(0), "AE", "Reverse charge"), TaxRule(Decimal(7), "S"))
MINOR_UNITS = {"EUR": 100, "USD": 100, "JPY": 1, "KWD": 1000}  # of ISO 4217, by hand


@dataclass(frozen=True)
class Past:
    """What happened in one month: ``used`` is (units of a, units of b) of each day."""

    fee_minor: int
    included: int
    unit_price: Decimal
    tier: int
    tier_prices: tuple[Decimal, Decimal]
    trial_days: int
    used: tuple[tuple[int, int], ...]
    closes: tuple[int, ...]  # days at whose end an invoice ends; the last one is the month's
    late: tuple[int, int]  # units of the last day that land, or are taken back, after the billing
    terms: Terms
    seller: SellerRule


def past(seed: int) -> Past:
    random = Random(seed)
    used = tuple((random.choice((0, random.randrange(9000))), random.randrange(3000))
                 for _ in range(DAYS))  # fmt: skip
    closes = sorted({*random.sample(range(1, DAYS), random.randrange(4)), DAYS})
    return Past(
        fee_minor=random.choice((0, 1, 4999)),
        included=random.choice((0, 20_001)),
        unit_price=Decimal(random.randrange(1, 99_999)) / 10**7,
        tier=random.choice((1, 10_000, 10**6)),
        tier_prices=(Decimal("0.0137"), Decimal(random.randrange(200)) / 10**4),
        trial_days=random.choice((0, 0, 3, 14, DAYS)),
        used=used,
        closes=tuple(closes),
        late=random.choice(
            ((0, 0), (random.randrange(5000), random.randrange(5000)), (-used[-1][0], -used[-1][1]))
        ),
        terms=_terms(random),
        # Of whichever legal entity and currency.
        seller=SellerRule(
            random.choice(sorted(MINOR_UNITS)),
            random.choice(list(Rounding)),
            random.choice((Decimal(0), Decimal(19), Decimal("25.5"))),
        ),
    )


def _terms(random: Random) -> Terms:
    scopes: tuple[tuple[str, ...], ...] = ((), (FEE,), ("a", "b"), ("b",))
    discounts = []
    for n in range(random.randrange(4)):
        is_percent = random.random() < 0.5
        discounts.append(
            Discount(
                f"d{n}",
                f"Discount {n}",
                Decimal(random.randrange(1, 1001)) / 10 if is_percent else None,
                None if is_percent else random.randrange(1, 9000),
                random.choice(scopes),
            )
        )
    commitments = []
    for n in range(random.randrange(3)):
        begin = random.randrange(DAYS)
        commitments.append(
            Commitment(f"c{n}", f"Minimum {n}", random.randrange(1, 60_000), _days(begin, DAYS))
        )
    return Terms(tuple(discounts), tuple(commitments))


def _days(start: int, end: int) -> Period:
    return Period(STARTS_AT + timedelta(days=start), STARTS_AT + timedelta(days=end))


def rules(of: Past) -> tuple[PriceRule, ...]:
    tiers = (Tier(Decimal(of.tier), of.tier_prices[0]), Tier(None, of.tier_prices[1]))
    return (
        PriceRule("a", "A", Model.UNIT, "unit", 3, (Tier(None, of.unit_price),), of.included),
        PriceRule("b", "B", Model.GRADUATED, "unit", 1, tiers),
    )


def invoices(of: Past) -> list[Rating]:
    """Return the invoices of the month by the product: one for each close, then the correction."""
    found: list[Rating] = []
    state = MonthSoFar()
    for start, end in zip((0, *of.closes), of.closes, strict=False):
        span = _days(start, end)
        days = of.used[start:end]
        usage: tuple[SpaceUsage, ...] = (
            SpaceUsage("spc", "a", sum(a for a, _ in days)),
            SpaceUsage("spc", "b", sum(b for _, b in days)),
        )
        trial = max(0, min(of.trial_days, end) - start) * 86_400
        segment = Segment(
            span, "p", 1, "P", of.fee_minor, rules(of), usage, runs_on=True, trial_seconds=trial
        )
        rating = pricing.rate([segment], [], of.seller, MONTH, state, of.terms)
        found.append(rating)
        state = rating.so_far
    if any(of.late):
        last = state.segments[-1]
        usage = tuple(
            replace(row, quantity=row.quantity + late)
            for row, late in zip(last.usage, of.late, strict=True)
        )
        known = replace(state, segments=(*state.segments[:-1], replace(last, usage=usage)))
        found.append(pricing.rate([], [], of.seller, MONTH, known))
    return found


def rounded(exact: Fraction, rounding: Rounding) -> int:
    """Round by the words of the rule: a half goes away from zero, or to the even neighbor."""
    low = math.floor(exact)
    rest = exact - low
    if rest != Fraction(1, 2):
        return low + (rest > Fraction(1, 2))
    if rounding is Rounding.HALF_EVEN:
        return low + low % 2
    return low if exact < 0 else low + 1


def oracle(of: Past) -> int:
    """Return what the month costs before tax."""
    rule = of.seller.rounding
    a = sum(units for units, _ in of.used) + of.late[0]
    b = sum(units for _, units in of.used) + of.late[1]
    cents = Fraction(MINOR_UNITS[of.seller.currency])
    fee = Fraction(of.fee_minor * (DAYS - min(of.trial_days, DAYS)), DAYS)
    over = max(0, b - of.tier)
    low, high = (Fraction(price) for price in of.tier_prices)
    left = {
        FEE: rounded(fee, rule),
        "a": rounded(max(0, a - of.included) * Fraction(of.unit_price) * cents / 3, rule),
        # Units of two tiers with one price are one price.
        "b": rounded(b * low * cents, rule) if low == high else
        rounded((b - over) * low * cents, rule) + rounded(over * high * cents, rule),
    }  # fmt: skip
    for discount in of.terms.discounts:
        _take_off(discount, left, rule)
    net = sum(left.values())
    if of.terms.commitments:
        minimum = Fraction(
            sum(row.minimum_minor * row.period.seconds for row in of.terms.commitments),
            DAYS * 86_400,
        )
        net = max(net, rounded(minimum, rule))
    return net


def _take_off(discount: Discount, left: dict[str, int], rule: Rounding) -> None:
    scope = [m for m in sorted(left) if left[m] > 0 and m in (discount.meters or left)]
    base = sum(left[meter] for meter in scope)
    if not base:
        return
    if discount.amount_minor is not None:
        off = min(discount.amount_minor, base)
    else:
        off = rounded(base * Fraction(discount.percent or 0) / 100, rule)
    shares = {meter: Fraction(off * left[meter], base) for meter in scope}
    parts = {meter: math.floor(share) for meter, share in shares.items()}
    by_remainder = sorted(scope, key=lambda m: (-(shares[m] - parts[m]), m))
    for meter in by_remainder[: off - sum(parts.values())]:
        parts[meter] += 1
    for meter in scope:
        left[meter] -= parts[meter]


@settings(max_examples=300, deadline=None)
@given(seed=st.integers(0, 10**9))
def test_a_month_with_terms_costs_what_the_oracle_says(seed: int) -> None:
    history = past(seed)

    made = invoices(history)

    assert sum(rating.net_minor for rating in made) == oracle(history)
    for rating in made:
        percent = Fraction(history.seller.tax_percent) / 100
        assert rating.tax_minor == rounded(rating.net_minor * percent, history.seller.rounding)


def test_histories_have_every_currency_rounding_and_tax() -> None:
    sellers = [past(seed).seller for seed in range(300)]

    assert len(set(sellers)) == len(MINOR_UNITS) * len(Rounding) * 3


@settings(max_examples=300, deadline=None)
@given(seed=st.integers(0, 10**9))
def test_credit_notes_take_back_exactly_what_was_charged(seed: int) -> None:
    history, random = past(seed), Random(seed)
    rule = history.seller

    for rating in invoices(history):
        charged = {n: line.amount_minor for n, line in enumerate(rating.lines, start=1)}
        # Some lines bear another tax, as corrections of another month do.
        others = {n: random.choice(TAXES) for n in charged if random.random() < 0.3}
        taxes = nets_by_rate(charged, others, rule)
        due = {rate: rounded(net * Fraction(rate) / 100, rule.rounding)
               for rate, net in taxes.items()}  # fmt: skip
        if rating.net_minor + sum(due.values()) <= 0:
            with pytest.raises(NothingLeft):
                crediting.credit(charged, {}, None, rule, others)
            continue
        notes = _notes(charged, others, rule, random)

        assert sum(note.net_minor for note in notes) == rating.net_minor
        found = dict.fromkeys(due, 0)
        for row in (row for note in notes for row in note.taxes):
            found[row.percent] += row.tax_minor
        assert found == due
        assert all(note.total_minor > 0 for note in notes)
        assert all(note.net_minor > 0 for note in notes[:-1])
        assert [note.is_rest for note in notes] == [False] * (len(notes) - 1) + [True]


def nets_by_rate(
    charged: Mapping[int, int], others: Mapping[int, TaxRule], seller: SellerRule
) -> dict[Decimal, int]:
    """Return {rate: sum of its lines}, without the seller's rate if no line bears it."""
    found: dict[Decimal, int] = {}
    for n, amount in charged.items():
        rate = others[n].percent if n in others else seller.tax_percent
        found[rate] = found.get(rate, 0) + amount
    return found


def _notes(
    charged: Mapping[int, int], others: Mapping[int, TaxRule], seller: SellerRule, random: Random
) -> list[Credited]:
    """Take back up to three parts, and then all that is left."""
    before: dict[int, int] = {}
    notes = []
    for _ in range(random.randrange(4)):
        wanted = _part(charged, before, random)
        if not wanted:
            continue
        try:
            notes.append(crediting.credit(charged, before, wanted, seller, others))
        except TooMuch:
            # It would leave less than nothing of one tax, although not of all lines together.
            assert len({others.get(n, seller.tax).key for n in charged}) > 1
            continue
        before = {n: before.get(n, 0) + wanted.get(n, 0) for n in charged}
        if notes[-1].is_rest:
            return notes
    return [*notes, crediting.credit(charged, before, None, seller, others)]


def _part(charged: Mapping[int, int], before: Mapping[int, int], random: Random) -> dict[int, int]:
    """Return a part of one line that may be taken back; {} if the chosen line has none left."""
    position = random.choice(sorted(charged))
    line_left = charged[position] - before.get(position, 0)
    left = min(line_left, sum(charged.values()) - sum(before.values()))
    return {position: random.randint(1, left)} if left > 0 else {}


@settings(max_examples=300, deadline=None)
@given(seed=st.integers(0, 10**9))
def test_credit_pays_in_one_order_whatever_order_it_is_read_in(seed: int) -> None:
    random = Random(seed)
    at = STARTS_AT
    grants = [
        Grant(
            f"g{n}",
            random.choice((PROMOTIONAL, PREPAID)),
            random.randrange(1, 500),
            random.choice((None, at, at + timedelta(days=random.randrange(1, 4)))),
            n,
        )
        for n in range(random.randrange(7))
    ]
    due = random.randrange(-100, 1500)

    uses = credits.burn(due, grants, at)

    assert credits.burn(due, random.sample(grants, len(grants)), at) == uses
    valid = [row for row in grants if row.expires_at is None or row.expires_at > at]
    assert sum(use.used_minor for use in uses) == max(
        0, min(due, sum(row.left_minor for row in valid))
    )
    kinds = [use.grant.kind for use in uses]
    assert kinds == sorted(kinds, key=lambda kind: kind == PREPAID)
    assert all(use.used_minor == use.grant.left_minor for use in uses[:-1])


def test_histories_hold_every_kind_of_term() -> None:
    """A law over histories without terms would prove nothing."""
    pasts = [past(seed) for seed in range(60)]
    lines = [line for one in pasts for rating in invoices(one) for line in rating.lines]

    assert {line.kind for line in lines} >= {"fee", "usage", "repriced", "discount", "commitment"}
    assert any(line.kind == "commitment" and line.amount_minor < 0 for line in lines)
    assert any(line.kind == "discount" and line.amount_minor > 0 for line in lines)
    assert any(one.trial_days for one in pasts)
    assert any(any(one.late) for one in pasts)
