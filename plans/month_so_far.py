"""What a billing month has been charged so far: plain values that one invoice hands to the next.

Included amounts, tiers, flat prices and roundings run over the calendar month, however it is cut
into invoices. ``pricing.rate`` takes the state before an invoice and returns the one after it; the
document of the invoice keeps it.
"""

from copy import deepcopy
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass
class Tally:
    """One meter in the month so far, in base units.

    ``used`` is a sum, of a peak the largest value. ``granted`` is what plans included, times the
    seconds each was in force; ``included`` what use took of it. ``billed`` is all use beyond,
    the place in the tiers; ``charged`` says at which price (key of a ``Charge``).
    """

    used: int = 0
    granted: int = 0
    included: int = 0
    billed: int = 0
    charged: dict[str, int] = field(default_factory=dict)


@dataclass
class Hours:
    """Seconds of life of the spaces or addresses on one plan version in the month so far."""

    title: str
    hour_price: str
    lived: int = 0
    billed: int = 0


@dataclass
class MonthSoFar:
    """The state of a month: ``meters`` by meter, ``hours`` by meter, plan key and version."""

    meters: dict[str, Tally] = field(default_factory=dict)
    hours: dict[tuple[str, str, int], Hours] = field(default_factory=dict)

    def tally(self, meter: str) -> Tally:
        """Return the meter's tally, begun at zero where there is none."""
        return self.meters.setdefault(meter, Tally())

    def copy(self) -> "MonthSoFar":
        """Return a state that can be charged without changing this one."""
        return deepcopy(self)

    def plain(self) -> dict[str, Any]:
        """Return the state as JSON values; ``from_plain`` reads them."""
        hours = [
            {"meter": meter, "plan": plan, "plan_version": version, **asdict(lived)}
            for (meter, plan, version), lived in sorted(self.hours.items())
        ]
        return {"meters": {m: asdict(tally) for m, tally in self.meters.items()}, "hours": hours}

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> "MonthSoFar":
        """Return the state that ``plain`` gave."""
        meters = {meter: Tally(**fields) for meter, fields in plain["meters"].items()}
        hours = {
            (row["meter"], row["plan"], row["plan_version"]): Hours(
                row["title"], row["hour_price"], row["lived"], row["billed"]
            )
            for row in plain["hours"]
        }
        return cls(deepcopy(meters), hours)
