"""A month with changes of plan costs the same however closes cut it into invoices.

Plans differ in fee, included amounts, tiers, flat prices and models; plans change and invoices end
at random moments. The whole month in one invoice, its pieces of one plan put together, is the
measure.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from itertools import groupby, pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from plans.rating import pricing
from plans.rating.billable import Lifetime, Segment, SpaceUsage
from plans.rating.money import Rounding
from plans.rating.month_so_far import MonthSoFar
from plans.rating.periods import Period
from plans.rating.price_rules import PriceRule, Tier
from plans.rating.pricing import Rating, SellerRule
from plans.usage.meters import Model
from tests.support.plans.billing_rows import ENDS_AT, STARTS_AT

MONTH = Period(STARTS_AT, ENDS_AT)
MIDDLE = STARTS_AT + timedelta(days=15)
SELLER = SellerRule("EUR", Rounding.HALF_EVEN, Decimal(0))
METERS = ("m_flat", "m_unit", "m_graduated", "m_volume", "m_package")
CHEAP = (Tier(Decimal(100), Decimal("1.003")), Tier(None, Decimal("0.507")))
DEAR = (Tier(Decimal(40), Decimal("2.011")), Tier(Decimal(200), Decimal("1.003")),
        Tier(None, Decimal("0.901")))  # fmt: skip


@dataclass(frozen=True)
class Offer:
    """A plan: what it costs and includes."""

    key: str
    fee_minor: int
    tiers: tuple[Tier, ...]
    included: int
    hours: int
    per: int = 7

    def rules(self) -> tuple[PriceRule, ...]:
        """Return one rule a model, and a peak."""
        models = [
            PriceRule(meter, meter, model, "units", self.per, self.tiers, self.included)
            for meter, model in zip(METERS, Model, strict=True)
        ]
        price = self.tiers[:1]
        return (*models, PriceRule("peak", "Peak", Model.UNIT, "c", 1, price, 20, is_peak=True))


OFFERS = (
    Offer("small", 1900, CHEAP, 100, 10),
    Offer("generous", 1900, CHEAP, 9_000, 400),  # the same prices, more included
    Offer("large", 9900, DEAR, 2_000, 100),  # other tiers, a dearer flat price
    Offer("bare", 0, CHEAP, 0, 0, per=11),
)


@dataclass(frozen=True)
class Piece:
    """A span of one plan with its use; after it an invoice may end."""

    ends: int  # seconds into the month
    offer: Offer
    use: dict[str, int]
    hours: tuple[int, int]
    closes: bool


@st.composite
def months(draw: st.DrawFn) -> list[Piece]:
    """Return pieces that fill the month."""
    ends = sorted(draw(st.sets(st.integers(1, MONTH.seconds - 1), max_size=6)))
    use = st.fixed_dictionaries({meter: st.integers(0, 5_000) for meter in (*METERS, "peak")})
    hours = st.tuples(st.integers(0, 90), st.integers(0, 90))
    return [
        Piece(end, draw(st.sampled_from(OFFERS)), draw(use), draw(hours), draw(st.booleans()))
        for end in (*ends, MONTH.seconds)
    ]


@settings(max_examples=400, deadline=None)
@given(pieces=months())
def test_a_month_of_several_plans_costs_the_same_however_it_is_cut(pieces: list[Piece]) -> None:
    made = invoices(pieces)

    assert sum(rating.net_minor for rating in made) == uncut(pieces).net_minor


@settings(max_examples=100, deadline=None)
@given(pieces=months())
def test_closing_again_and_again_charges_nothing_twice(pieces: list[Piece]) -> None:
    """What the month was charged in the end is what one invoice would have charged, price by price.

    Also what each invoice hands on sums up what the invoices so far charged.
    """
    made = invoices(pieces)

    assert made[-1].so_far.charged == uncut(pieces).so_far.charged


def test_an_upgrade_after_a_close_gives_back_what_the_new_plan_includes() -> None:
    """1,000 included at first, 10,000 from the middle on: 5,500 in the month, 4,000 used."""
    first, second = halves(1_000, 10_000, 4_000)

    assert (first.net_minor, second.net_minor) == (3000, -3000)
    [line] = [line for line in second.lines if line.amount_minor]
    assert (line.kind, line.quantity, line.unit_price) == (
        "repriced",
        Decimal(-3000),
        Decimal("0.01"),
    )


def test_a_downgrade_after_a_close_charges_what_the_month_does_not_include() -> None:
    """10,000 included at first, 1,000 from the middle on: 5,500 in the month, 8,000 used."""
    first, second = halves(10_000, 1_000, 8_000)

    assert (first.net_minor, second.net_minor) == (0, 2500)


def halves(first: int, then: int, used: int) -> tuple[Rating, Rating]:
    """Return two invoices at 0.01 a message: all use in the first, the plan changes with it."""
    one = pricing.rate([messages(STARTS_AT, first, used, runs_on=True)], [], SELLER, MONTH)
    rest = [messages(MIDDLE, then, 0, runs_on=False)]
    return one, pricing.rate(rest, [], SELLER, MONTH, one.so_far)


def messages(starts_at: object, included: int, used: int, *, runs_on: bool) -> Segment:
    span = Period(STARTS_AT, MIDDLE) if starts_at == STARTS_AT else Period(MIDDLE, ENDS_AT)
    tiers = (Tier(None, Decimal("0.01")),)
    rule = PriceRule("messages", "Messages", Model.UNIT, "message", 1, tiers, included)
    usage = (SpaceUsage("spc_a", "messages", used),) if used else ()
    return Segment(span, f"p{included}", 1, "P", 0, (rule,), usage, runs_on=runs_on)


def invoices(pieces: Sequence[Piece]) -> list[Rating]:
    """Return the month's invoices: one ends with each piece that ``closes``, and with the month."""
    so_far, found, waiting = MonthSoFar(), [], []
    for n, (starts, piece) in enumerate(zip(starts_of(pieces), pieces, strict=True)):
        is_last = n + 1 == len(pieces)
        waiting.append((starts, piece))
        if piece.closes or is_last:
            runs_on = not is_last and pieces[n + 1].offer == piece.offer
            rating = rated(waiting, so_far, runs_on=runs_on)
            found.append(rating)
            so_far, waiting = rating.so_far, []
    return found


def uncut(pieces: Sequence[Piece]) -> Rating:
    """Return the month as one invoice, neighbors of one plan put together."""
    starts = starts_of(pieces)
    merged, n = [], 0
    for _, same in groupby(pieces, key=lambda piece: piece.offer):
        group = list(same)
        merged.append((starts[n], together(group)))
        n += len(group)
    return rated(merged, MonthSoFar(), runs_on=False)


def together(group: Sequence[Piece]) -> Piece:
    use = {meter: sum(piece.use[meter] for piece in group) for meter in METERS}
    use["peak"] = max(piece.use["peak"] for piece in group)
    hours = (sum(piece.hours[0] for piece in group), sum(piece.hours[1] for piece in group))
    return Piece(group[-1].ends, group[0].offer, use, hours, closes=True)


def starts_of(pieces: Iterable[Piece]) -> list[int]:
    return [start for start, _ in pairwise([0, *(piece.ends for piece in pieces)])]


def rated(placed: Sequence[tuple[int, Piece]], so_far: MonthSoFar, *, runs_on: bool) -> Rating:
    segments = [
        segment(start, piece, runs_on=runs_on and n + 1 == len(placed))
        for n, (start, piece) in enumerate(placed)
    ]
    lifetimes = [
        Lifetime("space_hours", key, 1, key, Decimal(price), "spc_a", piece.hours[n] * 3600)
        for _, piece in placed
        for n, (key, price) in enumerate((("s", "0.0333"), ("l", "0.0777")))
        if piece.hours[n]
    ]
    return pricing.rate(segments, lifetimes, SELLER, MONTH, so_far)


def segment(start: int, piece: Piece, *, runs_on: bool) -> Segment:
    span = Period(STARTS_AT + timedelta(seconds=start), STARTS_AT + timedelta(seconds=piece.ends))
    usage = tuple(SpaceUsage("spc_a", meter, n) for meter, n in piece.use.items() if n)
    offer = piece.offer
    included = {"space_hours": offer.hours}
    return Segment(span, offer.key, 1, offer.key, offer.fee_minor, offer.rules(), usage, included,
                   runs_on=runs_on)  # fmt: skip
