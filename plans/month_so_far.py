"""What a billing month was billed for so far: plain values that one invoice hands to the next.

``pricing.rate`` prices the month anew from its beginning and charges what these values do not hold
yet. The document of the invoice keeps the state after it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from plans.billable import Lifetime, Segment, SpaceUsage
from plans.periods import Period
from plans.price_rules import Price

# Gives a plan version's segment without use; ``from_plain`` needs it.
SegmentOf = Callable[[str, int, Period], Segment]


@dataclass(frozen=True)
class MonthSoFar:
    """Ended segments with their use, lifetimes (one a plan version) and what was charged for them.

    ``charged`` is base units by meter and price, never zero.
    """

    segments: tuple[Segment, ...] = ()
    lifetimes: tuple[Lifetime, ...] = ()
    charged: Mapping[tuple[str, Price], int] = field(default_factory=dict)

    def plain(self) -> dict[str, Any]:
        """Return the state as JSON values; plans by key and version. ``from_plain`` reads them."""
        return {
            "segments": [_segment(segment) for segment in self.segments],
            "hours": [
                [x.meter, x.plan_key, x.plan_version, x.title, _digits(x.hour_price), x.seconds]
                for x in self.lifetimes
            ],
            "charged": [
                [meter, price.kind, _digits(price.unit_price), price.per, base]
                for (meter, price), base in sorted(self.charged.items())
            ],
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any], segment_of: SegmentOf) -> "MonthSoFar":
        """Return the state that ``plain`` gave, with its plans from ``segment_of``."""
        return cls(
            tuple(_used(row, segment_of) for row in plain["segments"]),
            tuple(
                Lifetime(meter, key, version, title, Decimal(price), "", seconds, 0)
                for meter, key, version, title, price, seconds in plain["hours"]
            ),
            {
                (meter, Price(kind, Decimal(price), per)): base
                for meter, kind, price, per, base in plain["charged"]
            },
        )


def merged(lifetimes: Iterable[Lifetime]) -> tuple[Lifetime, ...]:
    """Return one lifetime a meter and plan version, of no space, in a stable order."""
    found: dict[tuple[str, str, int], Lifetime] = {}
    for each in lifetimes:
        key = (each.meter, each.plan_key, each.plan_version)
        lived = found[key].seconds if key in found else 0
        found[key] = replace(each, space_id="", count=0, seconds=lived + each.seconds)
    return tuple(lifetime for _, lifetime in sorted(found.items(), key=lambda item: item[0]))


def _segment(segment: Segment) -> dict[str, Any]:
    return {
        "span": _ends(segment.period),
        "plan": segment.plan_key,
        "plan_version": segment.plan_version,
        "counted": _ends(segment.counted) if segment.counted else None,
        "usage": [[use.space_id, use.meter, use.quantity] for use in segment.usage],
    }


def _used(row: Mapping[str, Any], segment_of: SegmentOf) -> Segment:
    segment = segment_of(row["plan"], row["plan_version"], _between(row["span"]))
    counted = _between(row["counted"]) if row["counted"] else None
    usage = tuple(SpaceUsage(*use) for use in row["usage"])
    return replace(segment, usage=usage, counted=counted)


def _ends(period: Period) -> list[str]:
    return [period.starts_at.isoformat(), period.ends_at.isoformat()]


def _between(ends: Sequence[str]) -> Period:
    return Period(*map(datetime.fromisoformat, ends))


def _digits(price: Decimal) -> str:
    return f"{price.normalize():f}"
