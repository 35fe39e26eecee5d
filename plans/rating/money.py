"""Rounds, divides and formats amounts of money, and knows the currencies. Pure.

Amounts are integers in the currency's minor unit (ISO 4217). Only this module rounds amounts:
``round_minor`` rounds invoice lines (``price_rules.amount_minor``), discounts and minimum
commitments (``terms``) and the tax at one rate (``pricing.tax_on``). ``allocate`` divides a line
between spaces, and a discount between meters.
"""

from collections.abc import Sequence
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal
from enum import StrEnum

from controlplane.core.errors import Invalid

# 60 digits: the product of a quantity and a price is exact. A quotient may be inexact, but only in
# digits so small that rounding never takes it for exactly half a minor unit by mistake.
EXACT = Context(prec=60)

# Number of decimals of the minor unit -> currency codes. Source: ISO 4217, list one, without the
# codes of funds and precious metals.
_CODES = {
    0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF",
    2: (
        "AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BRL BSD BTN BWP BYN "
        "BZD CAD CDF CHF CNY COP CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS "
        "GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR "
        "LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD "
        "PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN "
        "SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD UYU UZS VES WST XCD XCG YER ZAR ZMW "
        "ZWG"
    ),
    3: "BHD IQD JOD KWD LYD OMR TND",
    4: "CLF UYW",
}
_MINOR_DIGITS = {code: digits for digits, codes in _CODES.items() for code in codes.split()}


class Rounding(StrEnum):
    """How a legal entity rounds half a minor unit. The catalog sets it; invoices print it."""

    HALF_EVEN = "half_even"
    HALF_UP = "half_up"


_DECIMAL_ROUNDING = {Rounding.HALF_EVEN: ROUND_HALF_EVEN, Rounding.HALF_UP: ROUND_HALF_UP}


def minor_digits(currency: str) -> int:
    """Return the number of decimals of the currency's minor unit: JPY 0, EUR 2, KWD 3.

    Raises:
        Invalid: the code is not in ISO 4217.
    """
    if currency not in _MINOR_DIGITS:
        raise Invalid(
            f"{currency!r} is not an ISO 4217 currency code: use three capital letters, as in EUR.",
            code="currency.unknown",
        )
    return _MINOR_DIGITS[currency]


def round_minor(exact: Decimal, rounding: Rounding) -> int:
    """Return ``exact``, an amount in minor units, rounded to a whole minor unit."""
    return int(exact.quantize(Decimal(1), _DECIMAL_ROUNDING[rounding], EXACT))


def to_major(amount_minor: int, currency: str) -> Decimal:
    """Return an amount in the currency's main unit with all decimals: (1250, EUR) -> 12.50."""
    return Decimal(amount_minor).scaleb(-minor_digits(currency), EXACT)


def display(amount_minor: int, currency: str) -> str:
    """Return an amount formatted for display: ``1,234.50 EUR``, ``-0.05 EUR``."""
    return f"{to_major(amount_minor, currency):,} {currency}"


def allocate(amount_minor: int, weights: Sequence[int]) -> list[int]:
    """Split an amount into one part for each weight, in proportion; the parts sum to the amount.

    Largest remainder method: each part is rounded down to whole minor units, and the missing units
    go to the parts with the largest remainders; of equal remainders the earlier part comes first.
    If all weights are zero, the first part takes everything. Weights must not be negative. Without
    weights there are no parts.
    """
    if not weights:
        return []
    total = sum(weights)
    if total == 0:
        return [amount_minor] + [0] * (len(weights) - 1)
    # divmod rounds towards minus infinity, so split the absolute amount.
    sign = -1 if amount_minor < 0 else 1
    floors = [divmod(abs(amount_minor) * weight, total) for weight in weights]
    missing = abs(amount_minor) - sum(part for part, _ in floors)
    rounded_up = sorted(range(len(floors)), key=lambda n: (-floors[n][1], n))[:missing]
    return [sign * (part + (n in rounded_up)) for n, (part, _) in enumerate(floors)]
