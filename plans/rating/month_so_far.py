"""Declares the state of a billing month after an invoice: usage so far, and what was charged.

The invoice document stores the state, and the next invoice of the month reads it there.
``pricing.rate`` then prices the month again from its beginning and charges what the month costs
more, or less, than the state says was charged.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from plans.rating.billable import Lifetime, Segment, SpaceUsage
from plans.rating.periods import Period
from plans.rating.price_rules import Price
from plans.rating.terms import Terms

# Takes plan key, plan version and span; returns the segment without usage.
SegmentOf = Callable[[str, int, Period], Segment]


@dataclass(frozen=True)
class MonthSoFar:
    """The state of a month: its segments, the lifetimes of spaces and addresses, and the charges.

    All segments have ended (``runs_on`` is false). ``lifetimes`` has one entry for each version of
    a space plan or address plan; its seconds are summed over all spaces. ``charged`` is
    {(meter, price): quantity}, without zeros. ``Price`` says in which unit a quantity counts.
    ``terms`` are those by which the month was priced last, and ``adjusted`` is what they came to:
    {key: minor units}, without zeros. ``MonthSoFar()`` is the state of a month without any invoice.
    """

    segments: tuple[Segment, ...] = ()
    lifetimes: tuple[Lifetime, ...] = ()
    charged: Mapping[tuple[str, Price], int] = field(default_factory=dict)
    terms: Terms = field(default_factory=Terms)
    adjusted: Mapping[str, int] = field(default_factory=dict)

    def plain(self) -> dict[str, Any]:
        """Return the state as JSON values, from which ``from_plain`` makes the state again.

        The values name commercial plans by key and version and leave out their fees and rules. They
        are stored in invoice documents: another form needs a new ``facts.ENGINE_VERSION``. Terms
        and trials are left out if there are none, as in the documents of engine 3.
        """
        terms = {"terms": self.terms.plain()} if self.terms else {}
        adjusted = {"adjusted": dict(sorted(self.adjusted.items()))} if self.adjusted else {}
        return {
            "segments": [
                {
                    "span": segment.period.plain(),
                    "plan": segment.plan_key,
                    "plan_version": segment.plan_version,
                    "counted": segment.counted.plain() if segment.counted else None,
                    "usage": [[use.space_id, use.meter, use.quantity] for use in segment.usage],
                    **({"trial": segment.trial_seconds} if segment.trial_seconds else {}),
                }
                for segment in self.segments
            ],
            "hours": [
                [t.meter, t.plan_key, t.plan_version, t.title, digits(t.hour_price), t.seconds]
                for t in self.lifetimes
            ],
            "charged": [
                [meter, price.kind, digits(price.unit_price), price.per, base]
                for (meter, price), base in sorted(self.charged.items())
            ],
            **terms,
            **adjusted,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any], segment_of: SegmentOf) -> "MonthSoFar":
        """Return the state from the result of ``plain``.

        ``segment_of`` takes plan key, plan version and span, and returns the segment with the
        plan's fee and rules, without usage.
        """
        segments = []
        for row in plain["segments"]:
            span = Period.from_plain(row["span"])
            segments.append(
                replace(
                    segment_of(row["plan"], row["plan_version"], span),
                    usage=tuple(SpaceUsage(*use) for use in row["usage"]),
                    counted=Period.from_plain(row["counted"]) if row["counted"] else None,
                    trial_seconds=row.get("trial", 0),
                )
            )
        return cls(
            tuple(segments),
            tuple(
                # A stored lifetime is merged over all spaces, so it has no space id and no count.
                Lifetime(meter, key, version, title, Decimal(price), "", seconds, 0)
                for meter, key, version, title, price, seconds in plain["hours"]
            ),
            {
                (meter, Price(kind, Decimal(price), per)): base
                for meter, kind, price, per, base in plain["charged"]
            },
            Terms.from_plain(plain.get("terms", {})),
            plain.get("adjusted", {}),
        )


def merged(lifetimes: Iterable[Lifetime]) -> tuple[Lifetime, ...]:
    """Return one lifetime per meter, plan key and plan version, ordered by these three.

    Its ``seconds`` are summed over all spaces; its ``space_id`` is empty and its ``count`` 0.
    """
    found: dict[tuple[str, str, int], Lifetime] = {}
    for lifetime in lifetimes:
        key = (lifetime.meter, lifetime.plan_key, lifetime.plan_version)
        before = found[key].seconds if key in found else 0
        seconds = before + lifetime.seconds
        found[key] = replace(lifetime, space_id="", count=0, seconds=seconds)
    return tuple(lifetime for _, lifetime in sorted(found.items(), key=lambda item: item[0]))


def digits(price: Decimal) -> str:
    """Return a price as text without trailing zeros, so that equal states have equal bytes."""
    return f"{price.normalize():f}"
