"""Currencies and exact rounding. Pure; pricing, invoices and pages use it.

Amounts are integers in the currency's minor unit (ISO 4217); only a line's, a tax rate's or an
allocation's exact result is ever rounded, once, here.
"""

from collections.abc import Sequence
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal
from enum import StrEnum

from controlplane.core.errors import Invalid

# Wide enough that an amount times a price is exact and one division never meets a false tie.
EXACT = Context(prec=60)

# ISO 4217 list one, by number of decimals of the minor unit; fund and metal codes left out.
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
    """How a legal entity rounds a half minor unit; fixed per entity and printed."""

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
            f"{currency!r} is no ISO 4217 currency code: use three capital letters such as EUR.",
            code="currency.unknown",
        )
    return _MINOR_DIGITS[currency]


def round_minor(exact: Decimal, rounding: Rounding) -> int:
    """Return an exact amount in minor units as a whole number of them."""
    return int(exact.quantize(Decimal(1), _DECIMAL_ROUNDING[rounding], EXACT))


def to_major(amount_minor: int, currency: str) -> Decimal:
    """Return an amount in the currency's main unit, with all its decimals: 1250 EUR -> 12.50."""
    return Decimal(amount_minor).scaleb(-minor_digits(currency), EXACT)


def display(amount_minor: int, currency: str) -> str:
    """Return an amount for people: ``1,234.50 EUR``, ``-0.05 EUR``."""
    return f"{to_major(amount_minor, currency):,} {currency}"


def allocate(amount_minor: int, weights: Sequence[int]) -> list[int]:
    """Split an amount in proportion to ``weights`` so that the parts sum to it exactly.

    Largest remainder: each part is cut down to whole minor units, the missing ones go to the
    largest remainders, an earlier part first where they tie. No weight at all: all to the first.
    """
    if not weights:
        return []
    whole = sum(weights)
    if whole == 0:
        return [amount_minor] + [0] * (len(weights) - 1)
    sign = -1 if amount_minor < 0 else 1
    cut = [divmod(abs(amount_minor) * weight, whole) for weight in weights]
    missing = abs(amount_minor) - sum(part for part, _ in cut)
    favoured = sorted(range(len(cut)), key=lambda n: (-cut[n][1], n))[:missing]
    return [sign * (part + (n in favoured)) for n, (part, _) in enumerate(cut)]
