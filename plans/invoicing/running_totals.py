"""Explains lines that are rounded together with earlier charges of their month. Pure.

Lines at one unit price are steps of one rounded running total, so the amount of a later line may
differ from its own quantity times its price. Everything is computed from the invoice document.
"""

from decimal import Decimal

from plans.invoicing.document import Document
from plans.rating import money, price_rules
from plans.rating.money import EXACT, Rounding
from plans.rating.price_rules import Price

_Charge = tuple[str, Price]  # meter and price
_AGAIN = frozenset({"repriced", "correction"})  # kinds of lines that charge earlier usage again
_DECIMALS = 6


def words(made: Document) -> dict[int, str]:
    """Return {position: sentences} for the lines of ``made`` that need them to be recomputed.

    These are the lines whose amount is not their own quantity times their price, rounded. The last
    sentence compares the running totals before and after the line.

    Lines at a price at which the invoice also charges earlier usage again have no sentence: the
    document does not say which running total such a charge belongs to.
    """
    # Documents of the first engines have no state of the month.
    charged = made.get("month_so_far", {}).get("charged", [])
    left = {(row[0], Price(row[1], Decimal(row[2]), row[3])): row[4] for row in charged}
    currency, rounding = made["currency"], Rounding(made["rounding"])
    unclear = {_meter_and_price(line) for line in made["lines"] if line["kind"] in _AGAIN}
    found = {}
    # The state is that after the last line, so the lines are taken back one after the other.
    for line in reversed(made["lines"]):
        key = _charge(line, left)
        if key is None or _meter_and_price(line) in unclear:
            continue
        after = left[key]
        before = left[key] = after - line["detail"]["billed_base"]
        alone = price_rules.amount_minor(key[1], (0, after - before), currency, rounding)
        if before and alone != line["amount_minor"]:
            earlier, now = (_total(key[1], base, currency, rounding) for base in (before, after))
            found[line["position"]] = (
                "Charges at this price are added up over the month and rounded together. Before "
                f"this line they were {earlier}, and with it they are {now}."
            )
    return found


def _meter_and_price(line: Document) -> tuple[str, Decimal]:
    return line["meter"], Decimal(line["unit_price"])


def _charge(line: Document, charged: dict[_Charge, int]) -> _Charge | None:
    """Return the key of the line in ``charged``; None if it has none, or if several are possible.

    Hours of two versions of a plan may have one price; then the line names the version.
    """
    detail = line["detail"]
    if "billed_base" not in detail:
        return None
    at_price = [key for key in charged if (key[0], key[1].unit_price) == _meter_and_price(line)]
    version = f"{detail.get('plan')}/{detail.get('plan_version')}"
    named = [key for key in at_price if key[1].kind == version]
    found = named if line["kind"] == "lifetime" else at_price
    return found[0] if len(found) == 1 else None


def _total(price: Price, base: int, currency: str, rounding: Rounding) -> str:
    """Return a running total as text: ``0.0057 EUR, rounded 0.01 EUR``."""
    exact = EXACT.divide(EXACT.multiply(Decimal(base), price.unit_price), Decimal(price.per))
    text = f"{exact:.{_DECIMALS}f}".rstrip("0").rstrip(".")
    rounded = price_rules.amount_minor(price, (0, base), currency, rounding)
    return f"{text} {currency}, rounded {money.display(rounded, currency)}"
