"""The values of one sample by meter, as a mapping.

The sampled meters of ``plans.usage.meters`` are the only keys. Rows of bronze and states carry one
such mapping each, so a new meter adds no field to them.
"""

from collections.abc import Iterator, Mapping
from typing import Self

from plans.usage.meters import METERS, REGISTRY, Scope

# What is counted for each address, and what for an incarnation as a whole. The names are also keys
# of stored states. An older worker that runs beside this one fails on a key that it does not know.
ADDRESS_METERS = tuple(meter.slug for meter in REGISTRY if meter.scope is Scope.ADDRESS)
# Meters of whole instances, not of addresses.
SOURCE_METERS = tuple(meter.slug for meter in REGISTRY if meter.scope is Scope.SOURCE)

_NAMES = frozenset(METERS)


class Counters(Mapping[str, int]):
    """An immutable mapping {meter: value} of every sampled meter; a meter not given is zero."""

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, int] | None = None) -> None:
        """Take the values of the given meters.

        Raises:
            ValueError: one of the names is not a sampled meter.
        """
        given = values or {}
        if not given.keys() <= _NAMES:
            raise ValueError(f"not sampled meters: {sorted(given.keys() - _NAMES)}")
        self._values = {meter: given.get(meter, 0) for meter in METERS}

    def __getitem__(self, meter: str) -> int:
        return self._values[meter]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __hash__(self) -> int:
        return hash(tuple(self._values.values()))

    def __repr__(self) -> str:
        return f"Counters({ {meter: n for meter, n in self._values.items() if n} })"

    def having(self, **changed: int) -> Self:
        """Return a copy in which the given meters have other values."""
        return type(self)({**self._values, **changed})


NOTHING = Counters()
