"""The worked examples of docs/billing-examples.md, computed by the engine, row by row."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest

from plans.rating import crediting, credits, money, pricing, taxes
from plans.rating.billable import Segment, SpaceUsage
from plans.rating.credits import PREPAID, PROMOTIONAL, Grant
from plans.rating.money import Rounding
from plans.rating.periods import Period
from plans.rating.price_rules import PriceRule, Tier
from plans.rating.pricing import Rating, SellerRule
from plans.rating.taxes import Buyer
from plans.rating.terms import Commitment, Discount, Terms
from plans.rating.vat_ids import Status
from plans.usage.meters import Model
from tests.support import source_tree

Rows = list[tuple[str, str]]
PAGE = (source_tree.ROOT / "docs/billing-examples.md").read_text()
MONTH = Period(datetime(2026, 4, 1, tzinfo=UTC), datetime(2026, 5, 1, tzinfo=UTC))
MIDDLE = MONTH.starts_at + timedelta(days=15)
GERMANY = SellerRule("EUR", Rounding.HALF_EVEN, Decimal(19))
MILLION = 10**6
MESSAGES = PriceRule(
    "messages",
    "Messages",
    Model.GRADUATED,
    "million messages",
    MILLION,
    (Tier(Decimal(100), Decimal("0.90")), Tier(None, Decimal("0.60"))),
    included=5 * MILLION,
)
TEN_PERCENT = Discount("p", "Partner", percent=Decimal(10))


def team(millions: int, span: Period = MONTH, trial_days: int = 0) -> Segment:
    usage = (SpaceUsage("shop", "messages", millions * MILLION),)
    trial = trial_days * 86_400
    return Segment(
        span, "team", 1, "Team", 4900, (MESSAGES,), usage, runs_on=True, trial_seconds=trial
    )


def rated(millions: int, terms: Terms | None = None, trial_days: int = 0) -> Rating:
    return pricing.rate([team(millions, trial_days=trial_days)], [], GERMANY, MONTH, None, terms)


def discounted(*discounts: Discount) -> Terms:
    return Terms(discounts)


def committed(since: datetime) -> Terms:
    return Terms((), (Commitment("c", "Yearly deal", 15_000, Period(since, MONTH.ends_at)),))


def halves() -> tuple[Rating, Rating]:
    terms = discounted(TEN_PERCENT)
    first = pricing.rate(
        [team(30, Period(MONTH.starts_at, MIDDLE))], [], GERMANY, MONTH, None, terms
    )
    second = pricing.rate(
        [team(30, Period(MIDDLE, MONTH.ends_at))], [], GERMANY, MONTH, first.so_far, terms
    )
    return first, second


def late() -> Rating:
    state = rated(60, discounted(TEN_PERCENT)).so_far
    usage = (SpaceUsage("shop", "messages", 62 * MILLION),)
    known = replace(state, segments=(replace(state.segments[0], usage=usage),))
    return pricing.rate([], [], GERMANY, MONTH, known)


def reverse_charge() -> Rating:
    tax = taxes.decide("DE", Buyer("FR", Status.VALID), date(2026, 4, 30))
    assert tax.note in PAGE
    seller = replace(GERMANY, tax_percent=tax.percent)
    return pricing.rate([team(60)], [], seller, MONTH)


def paid_by_credit() -> Rows:
    rating = rated(60)
    total = rating.net_minor + rating.tax_minor
    grants = [Grant("b", PREPAID, 5000, None, 1), Grant("a", PROMOTIONAL, 2000, None, 2)]
    uses = credits.burn(total, grants, MONTH.ends_at)
    left = total - sum(use.used_minor for use in uses)
    paid = [(f"{use.grant.kind.capitalize()} credit", -use.used_minor) for use in uses]
    return shown([("Total", total), *paid, ("To pay", left)])


def notes() -> Sequence[Rows]:
    rating = rated(60)
    charged = {n: line.amount_minor for n, line in enumerate(rating.lines, start=1)}
    part = crediting.credit(charged, {}, {1: 1000}, GERMANY)
    rest = crediting.credit(charged, {1: 1000}, None, GERMANY)
    return [
        shown(
            [
                *((rating.lines[n - 1].description, amount) for n, amount in note.lines.items()),
                ("Net", note.net_minor),
                ("Tax 19 %", note.tax_minor),
                ("Total", note.total_minor),
            ]
        )
        for note in (part, rest)
    ]


def table(rating: Rating) -> Rows:
    (tax,) = rating.taxes
    lines = [(line.description, line.amount_minor) for line in rating.lines if line.amount_minor]
    return shown(
        [
            *lines,
            ("Net", rating.net_minor),
            (f"Tax {tax.percent} %", tax.tax_minor),
            ("Total", rating.net_minor + rating.tax_minor),
        ]
    )


def shown(rows: Iterable[tuple[str, int]]) -> Rows:
    return [(label, f"{money.to_major(amount, 'EUR')}") for label, amount in rows]


EXAMPLES: Sequence[Callable[[], Rows]] = (
    lambda: table(rated(60)),
    lambda: table(rated(120)),
    lambda: table(rated(60, discounted(TEN_PERCENT, Discount("w", "Welcome", None, 500)))),
    lambda: table(
        rated(60, discounted(Discount("h", "Half the fee", Decimal(50), meters=("plan_fee",))))
    ),
    lambda: table(rated(60, committed(MONTH.starts_at))),
    lambda: table(rated(60, committed(MIDDLE))),
    lambda: table(rated(0, trial_days=14)),
    lambda: table(halves()[0]),
    lambda: table(halves()[1]),
    lambda: table(late()),
    lambda: table(reverse_charge()),
    paid_by_credit,
    lambda: notes()[0],
    lambda: notes()[1],
)


@pytest.mark.parametrize("number", range(1, len(EXAMPLES) + 1))
def test_an_example_is_computed_as_written(number: int) -> None:
    assert EXAMPLES[number - 1]() == written(number)


def test_every_example_of_the_page_is_computed() -> None:
    assert len(re.findall(r"^## \d+\.", PAGE, re.M)) == len(EXAMPLES)


def written(number: int) -> Rows:
    """Return the rows of the table of one example on the page."""
    (section,) = re.findall(rf"^## {number}\. .*?(?=^## |\Z)", PAGE, re.M | re.S)
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", section, re.M)
    return [row for row in rows if row[0] not in ("Line", "---")]
