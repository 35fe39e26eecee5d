"""Says how the portal shows each sampled meter: title, display unit, size of that unit."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from decimal import Decimal

from plans.usage import meters


@dataclass(frozen=True)
class Shown:
    """How one meter is shown. One ``unit`` is ``base_per_unit`` of the stored base units."""

    meter: str
    title: str
    unit: str
    base_per_unit: int
    explanation: str

    @property
    def heading_unit(self) -> str:
        """The unit for a table heading, or '' when the title already contains the unit."""
        return "" if self.unit in self.title.lower() else self.unit

    def amount(self, quantity: int) -> Decimal:
        """Return ``quantity``, a number of base units, converted to ``unit``."""
        return Decimal(quantity) / self.base_per_unit


# The other meters, sums and lifetimes, have no samples to draw. They appear on invoices only.
SHOWN = tuple(
    Shown(meter.slug, meter.title, meter.unit, meter.base_per_unit, meter.explanation)
    for meter in meters.REGISTRY
    if meter.is_sampled
)


def title_of(meter: str) -> str:
    """Return the title of a meter, or of the plan fee."""
    known = meters.BY_SLUG.get(meter)
    return known.title if known else meter.replace("_", " ").capitalize()


def relevant(named: Collection[str]) -> Sequence[Shown]:
    """Return the meters to show to a tenant whose plan or limits name the meters ``named``.

    An optional meter is left out, unless ``named`` has it or has a sum that it is part of.
    """
    parts = {part for meter in named for part in meters.DERIVED.get(meter, ())}
    return [
        shown
        for shown in SHOWN
        if not meters.BY_SLUG[shown.meter].is_optional or shown.meter in {*named, *parts}
    ]


BY_METER = {shown.meter: shown for shown in SHOWN}
