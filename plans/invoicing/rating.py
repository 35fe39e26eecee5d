"""Joins facts and usage into a priced period. Pure but for the reader it is given."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from plans import pricing, usage
from plans.invoicing.facts import Facts
from plans.periods import Period
from plans.pricing import Rating, Segment, SpaceUsage
from plans.usage import Figure, UsageCell

# Gives the figures per space and meter of a window of buckets.
Reader = Callable[[Period], Sequence[Figure]]


@dataclass(frozen=True)
class RatedPeriod:
    """The price of a period and the usage it was made from."""

    rating: Rating
    figures: tuple[Figure, ...]


def rate(facts: Facts, read: Reader) -> RatedPeriod:
    """Return the period priced by its facts and the usage that ``read`` gives."""
    segments, figures = [], []
    for segment, window in zip(facts.segments, windows(facts), strict=True):
        used = list(read(window))
        figures += used
        segments.append(replace(segment, usage=_priced_usage(segment, used)))
    rating = pricing.rate(segments, facts.lifetimes, facts.seller_rule, facts.month, facts.so_far)
    return RatedPeriod(rating, tuple(figures))


def windows(facts: Facts) -> list[Period]:
    """Return the buckets each segment pays for, by where a bucket starts.

    A bucket belongs to the plan in force at its start; the first plan also takes the bucket in
    which it began, and a plan that ended without a successor what still comes after it.
    """
    starts = [facts.period.starts_at, *(s.period.starts_at for s in facts.segments[1:])]
    ends = [*starts[1:], facts.period.ends_at]
    return [Period(start, end) for start, end in zip(starts, ends, strict=True)]


def from_copy(tenant_id: str) -> Reader:
    """Return a reader of the copied gold usage."""
    return lambda window: usage.by_space(tenant_id, window.starts_at, window.ends_at)


def from_cells(cells: Iterable[UsageCell], tenant_id: str) -> Reader:
    """Return a reader of cells held in memory (recomputed ones, in ``verify`` and in tests)."""
    mine = [cell for cell in cells if cell.tenant_id == tenant_id and cell.quantity]
    return lambda window: usage.summed_by_space(
        cell for cell in mine if window.contains(cell.bucket_at)
    )


def _priced_usage(segment: Segment, figures: Sequence[Figure]) -> tuple[SpaceUsage, ...]:
    space_ids = sorted({figure.space_id for figure in figures})
    found = []
    for rule in segment.rules:
        for space_id in space_ids:
            mine = [figure for figure in figures if figure.space_id == space_id]
            quantity = usage.quantity_of(rule.meter, mine)
            if quantity:
                found.append(SpaceUsage(space_id, rule.meter, quantity))
    return tuple(found)
