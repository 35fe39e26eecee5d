"""Says in words what a meter costs, for each price model: in one line, or tier by tier. Pure.

Portal, notices, API and command take their texts of prices from here. Tiers count what is used
beyond the included amount, as ``price_rules`` charges it.
"""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import pairwise
from typing import NamedTuple, assert_never

from plans.catalog.definitions import MeterPrice
from plans.rating import money
from plans.rating.money import EXACT
from plans.rating.price_rules import Tier
from plans.usage import meters
from plans.usage.meters import Meter, Model

_MILLION = 1_000_000
_DECIMALS = Decimal("0.000001")
_TIERS_IN_A_LINE = 3


class Step(NamedTuple):
    """A part of a month's usage, and what it costs: one row of a table of prices."""

    usage: str
    price: str


def figure(price: Decimal, currency: str) -> str:
    """Return a price without its currency, with at least its minor digits: ``0.90``, ``0.0004``."""
    plain = f"{price.normalize():f}"
    _, _, decimals = plain.partition(".")
    return f"{price:.{max(len(decimals), money.minor_digits(currency))}f}"


def line(slug: str, price: MeterPrice, currency: str) -> str:
    """Return the price of a meter as one line that begins with what the next unit costs first.

    For example ``0.90 EUR per million messages, 0.60 beyond 100 million``. Of more than three tiers
    it names two; ``steps`` has them all.
    """
    meter, tiers = meters.BY_SLUG[slug], _merged(price.tiers)
    texts = [
        _further(meter, price, _end(meter, price, before), figure(tier.unit_price, currency))
        for before, tier in pairwise(tiers)
    ]
    if len(tiers) > _TIERS_IN_A_LINE:
        kept = _TIERS_IN_A_LINE - 2
        texts = [*texts[:kept], f"and {len(texts) - kept} more tiers"]
    return ", ".join([_single(meter, price, tiers[0], currency), *texts])


def in_full(slug: str, price: MeterPrice, currency: str) -> str:
    """Return the price of a meter with all tiers, as one line.

    For example ``up to 100 million billed messages: 0.90 EUR per million, above: 0.60 EUR``. Billed
    units are those after the included amount.
    """
    meter, tiers = meters.BY_SLUG[slug], _merged(price.tiers)
    if len(tiers) == 1:
        return _single(meter, price, tiers[0], currency)
    texts = []
    for n, tier in enumerate(tiers):
        bound = "above" if tier.up_to is None else f"up to {_billed(meter, price, tier, n)}"
        per = f" per {_scale(meter, price) or price.unit}" if n == 0 else ""
        texts.append(f"{bound}: {figure(tier.unit_price, currency)} {currency}{per}")
    whole = "one price for all, " if price.model == Model.VOLUME else ""
    return whole + ", ".join(texts)


def amount(slug: str, base_units: int) -> str:
    """Return an amount of a meter with its unit, such as ``2.5 million messages``."""
    return _named(meters.BY_SLUG[slug], base_units)


def steps(slug: str, price: MeterPrice, included: int, currency: str) -> list[Step]:
    """Return what each part of a month's usage of a meter costs, in ascending order.

    ``included`` is in base units of the meter.
    """
    meter, tiers = meters.BY_SLUG[slug], _merged(price.tiers)
    found = [Step(f"the first {_named(meter, included)}", "included")] if included else []
    parts = _parts(meter, price, tiers, is_first=not included)
    prices = (_single(meter, price, tier, currency) for tier in tiers)
    return [*found, *(Step(*row) for row in zip(parts, prices, strict=True))]


def _single(meter: Meter, price: MeterPrice, tier: Tier, currency: str) -> str:
    """Return the price of the units in ``tier``."""
    amount, model = f"{figure(tier.unit_price, currency)} {currency}", Model(price.model)
    match model:
        case Model.FLAT:
            return f"{amount} once a month for any number of {meter.unit}"
        case Model.PACKAGE:
            size = _named(meter, price.base_per_unit)
            return f"{amount} for each package of {size} that is begun"
        case Model.UNIT | Model.GRADUATED | Model.VOLUME:
            return f"{amount} per {price.unit}"
        case _:
            assert_never(model)


def _further(meter: Meter, price: MeterPrice, end: str, amount: str) -> str:
    """Return a further tier in a line: ``end`` is that of the tier before, ``amount`` its price."""
    model = Model(price.model)
    match model:
        case Model.GRADUATED:
            return f"{amount} beyond {end}"
        case Model.VOLUME:
            return f"{amount} for all if there are more than {end}"
        case Model.FLAT | Model.UNIT | Model.PACKAGE:
            raise ValueError(f"a price of the model {model} has one tier")
        case _:
            assert_never(model)


def _parts(
    meter: Meter, price: MeterPrice, tiers: Sequence[Tier], *, is_first: bool
) -> Iterator[str]:
    """Yield the usage that each tier prices; ``is_first``: nothing is included before it."""
    rest = f"all {meter.unit}" if is_first else f"all further {meter.unit}"
    low = Decimal(0)
    for tier in tiers:
        if len(tiers) == 1:
            yield rest
        elif price.model == Model.VOLUME:
            lower = f"more than {_amount(meter, low * price.base_per_unit)}" if low else ""
            upper = (
                f"up to {_amount(meter, tier.up_to * price.base_per_unit)}" if tier.up_to else ""
            )
            yield f"{rest}, if {' and '.join(filter(None, (lower, upper)))}"
        elif tier.up_to is None:
            yield f"all further {meter.unit}"
        else:
            size = _named(meter, (tier.up_to - low) * price.base_per_unit)
            yield f"the {'first' if is_first and not low else 'next'} {size}"
        low = tier.up_to or low


def _merged(tiers: Sequence[Tier]) -> list[Tier]:
    """Return the tiers; of neighbors with the same price only the last one."""
    kept = [tier for tier, after in pairwise(tiers) if after.unit_price != tier.unit_price]
    return [*kept, tiers[-1]]


def _scale(meter: Meter, price: MeterPrice) -> str:
    """Return how many of the meter's units the price is for: ``million``; empty if not in words."""
    return price.unit.removesuffix(meter.unit).strip() if price.unit.endswith(meter.unit) else ""


def _end(meter: Meter, price: MeterPrice, tier: Tier) -> str:
    """Return the end of a tier; with the meter's unit if it is unclear without."""
    base = (tier.up_to or Decimal(0)) * price.base_per_unit
    return _amount(meter, base) if _scale(meter, price) else _named(meter, base)


def _billed(meter: Meter, price: MeterPrice, tier: Tier, n: int) -> str:
    """Return the end of the tier with index ``n``; the first one says what it counts."""
    if n:
        return _end(meter, price, tier)
    return f"{_amount(meter, (tier.up_to or Decimal(0)) * price.base_per_unit)} billed {meter.unit}"


def _named(meter: Meter, base: Decimal | int) -> str:
    amount = _amount(meter, base)
    return f"{amount} {meter.unit.removesuffix('s') if amount == '1' else meter.unit}"


def _amount(meter: Meter, base: Decimal | int) -> str:
    """Return a number of base units in the meter's unit: ``500``, ``2.5 million``."""
    number = EXACT.divide(Decimal(base), Decimal(meter.base_per_unit))
    if number >= _MILLION and number % (_MILLION // 100) == 0:
        return f"{(number / _MILLION).normalize():,f} million"
    return f"{number.quantize(_DECIMALS, context=EXACT).normalize():,f}"
