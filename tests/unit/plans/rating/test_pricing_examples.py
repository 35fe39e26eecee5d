"""The worked examples of docs/billing-examples.md, computed by the engine, row by row."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest

from plans.rating import crediting, credits, pricing, taxes
from plans.rating.billable import Segment, SpaceUsage
from plans.rating.credits import PREPAID, PROMOTIONAL, Grant
from plans.rating.money import Rounding
from plans.rating.periods import Period
from plans.rating.price_rules import PriceRule, Tier
from plans.rating.pricing import Rating, SellerRule
from plans.rating.taxes import Buyer, Category, TaxRule
from plans.rating.terms import Commitment, Discount, Terms
from plans.rating.vat_ids import Status
from plans.usage.meters import Model
from tests.support.plans import worked_examples
from tests.support.plans.worked_examples import PAGE, Rows, shown, written

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
    return Terms((), (Commitment("c", "Monthly minimum", 15_000, Period(since, MONTH.ends_at)),))


def halves() -> tuple[Rating, Rating]:
    terms = discounted(TEN_PERCENT)
    first = pricing.rate(
        [team(30, Period(MONTH.starts_at, MIDDLE))], [], GERMANY, MONTH, None, terms
    )
    second = pricing.rate(
        [team(30, Period(MIDDLE, MONTH.ends_at))], [], GERMANY, MONTH, first.so_far, terms
    )
    return first, second


def late(terms: Terms, invoiced: int, known: int) -> Rating:
    """Return what is charged once more millions of messages are known than were invoiced."""
    state = rated(invoiced, terms).so_far
    usage = (SpaceUsage("shop", "messages", known * MILLION),)
    month = replace(state, segments=(replace(state.segments[0], usage=usage),))
    return pricing.rate([], [], GERMANY, MONTH, month)


def reverse_charge() -> Rating:
    tax = taxes.decide("DE", Buyer("FR", Status.VALID), date(2026, 4, 30))
    assert tax.note in PAGE
    seller = replace(GERMANY, tax_percent=tax.percent)
    return pricing.rate([team(60)], [], seller, MONTH)


def paid_by_credit(rating: Rating, prepaid_minor: int) -> Rows:
    total = rating.net_minor + rating.tax_minor
    grants = [Grant("b", PREPAID, prepaid_minor, None, 1), Grant("a", PROMOTIONAL, 2000, None, 2)]
    uses = credits.burn(total, grants, MONTH.ends_at)
    left = total - sum(use.used_minor for use in uses)
    paid = [(f"{use.grant.kind.capitalize()} credit", -use.used_minor) for use in uses]
    return shown([("Total", total), *paid, ("To pay", left)])


def in_packages(messages: int) -> Rating:
    rule = replace(
        MESSAGES,
        model=Model.PACKAGE,
        unit="packages",
        base_per_unit=100_000,
        tiers=(Tier(None, Decimal("0.05")),),
        included=MILLION,
    )
    usage = (SpaceUsage("shop", "messages", messages),)
    segment = Segment(MONTH, "team", 1, "Team", 4900, (rule,), usage, runs_on=True)
    return pricing.rate([segment], [], GERMANY, MONTH, None, None)


def notes(rating: Rating, fee_minor: int) -> Sequence[Rows]:
    """Return a note that takes back ``fee_minor`` of the fee, and one of the rest."""
    charged = {n: line.amount_minor for n, line in enumerate(rating.lines, start=1)}
    part = crediting.credit(charged, {}, {1: fee_minor}, GERMANY)
    rest = crediting.credit(charged, {1: fee_minor}, None, GERMANY)
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


def american() -> Rating:
    seller = SellerRule("USD", Rounding.HALF_UP, Decimal("6.25"))
    tiers = (Tier(Decimal(100), Decimal("1.05")), Tier(None, Decimal("0.70")))
    dollars = replace(team(60), monthly_fee_minor=5400, rules=(replace(MESSAGES, tiers=tiers),))
    return pricing.rate([dollars], [], seller, MONTH)


def exempt() -> Rating:
    text = "Exempt from VAT: Section 4 no. 21 UStG (certificate 2026-0815)"
    certificate = TaxRule(Decimal(0), Category.EXEMPT, text)
    tax = taxes.decide("DE", Buyer("DE", Status.VALID, certificate), date(2026, 4, 30))
    assert tax.note in PAGE
    return pricing.rate([team(60)], [], replace(GERMANY, tax_percent=tax.percent), MONTH)


def notes_of_a_discounted_invoice() -> Sequence[Rows]:
    """Return the notes of examples 20 and 21: the fee after its discount, then the rest."""
    return notes(rated(60, discounted(TEN_PERCENT)), 4410)


def upgraded(before_millions: int, after_millions: int, model: Model = Model.GRADUATED) -> Rating:
    change = MONTH.starts_at + timedelta(days=10)
    tiers = (Tier(Decimal(100), Decimal("0.70")), Tier(Decimal(1000), Decimal("0.45")))
    rule = replace(MESSAGES, model=model)
    messages = replace(rule, tiers=(*tiers, Tier(None, Decimal("0.30"))), included=50 * MILLION)
    begun = team(before_millions, Period(MONTH.starts_at, change))
    before = replace(begun, runs_on=False, rules=(rule,))
    after = replace(
        team(after_millions, Period(change, MONTH.ends_at)),
        plan_key="business", plan_title="Business", monthly_fee_minor=29_900, rules=(messages,),
    )  # fmt: skip
    return pricing.rate([before, after], [], GERMANY, MONTH)


def discounted_and_committed() -> Rating:
    return rated(60, replace(committed(MONTH.starts_at), discounts=(TEN_PERCENT,)))


def rounded_by_both_rules() -> Rows:
    even = rated(10)
    up = pricing.rate([team(10)], [], replace(GERMANY, rounding=Rounding.HALF_UP), MONTH)
    *lines, _, _ = table(even)
    assert lines == table(up)[:-2]
    taxes_of = {"half to even": even.tax_minor, "half up": up.tax_minor}
    return [*lines, *shown((f"Tax 19 %, {rule}", tax) for rule, tax in taxes_of.items())]


def may() -> Rating:
    month = Period(MONTH.ends_at, datetime(2026, 6, 1, tzinfo=UTC))
    agreed = Terms((), (Commitment("c", "Monthly minimum", 15_000, month),))
    return pricing.rate([team(180, month)], [], GERMANY, month, None, agreed)


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


# Examples 17, 18, 24 and 25 are entries of the ledger: test_finance_questions.py beside the
# invoices. Examples 33 to 35 are about two months: test_corrections_examples.py there.
EXAMPLES: Mapping[int, Callable[[], Rows]] = {
    1: lambda: table(rated(60)),
    2: lambda: table(rated(120)),
    3: lambda: table(rated(60, discounted(TEN_PERCENT, Discount("w", "Welcome", None, 500)))),
    4: lambda: table(
        rated(60, discounted(Discount("h", "Half the fee", Decimal(50), meters=("plan_fee",))))
    ),
    5: lambda: table(rated(60, committed(MONTH.starts_at))),
    6: lambda: table(rated(60, committed(MIDDLE))),
    7: lambda: table(rated(0, trial_days=14)),
    8: lambda: table(halves()[0]),
    9: lambda: table(halves()[1]),
    10: lambda: table(late(discounted(TEN_PERCENT), 60, 62)),
    11: lambda: table(reverse_charge()),
    12: lambda: paid_by_credit(rated(60), 5000),
    13: lambda: notes(rated(60), 1000)[0],
    14: lambda: notes(rated(60), 1000)[1],
    15: lambda: table(american()),
    16: lambda: table(exempt()),
    19: lambda: table(may()),
    20: lambda: notes_of_a_discounted_invoice()[0],
    21: lambda: notes_of_a_discounted_invoice()[1],
    22: lambda: table(upgraded(60, 60)),
    23: lambda: table(discounted_and_committed()),
    26: lambda: table(late(committed(MONTH.starts_at), 103, 108)),
    27: lambda: table(upgraded(130, 60)),
    28: lambda: table(upgraded(60, 80, Model.VOLUME)),
    29: lambda: table(
        rated(6, discounted(Discount("w", "Welcome", None, 500, meters=("messages",))))
    ),
    30: rounded_by_both_rules,
    31: lambda: table(in_packages(1_234_567)),
    32: lambda: paid_by_credit(rated(60, committed(MONTH.starts_at)), 10_000),
}
IN_THE_DATABASE = {17, 18, 24, 25, 33, 34, 35}


@pytest.mark.parametrize("number", EXAMPLES)
def test_an_example_is_computed_as_written(number: int) -> None:
    assert EXAMPLES[number]() == written(number)


def test_every_example_of_the_page_is_computed() -> None:
    assert worked_examples.numbers() == EXAMPLES.keys() | IN_THE_DATABASE
