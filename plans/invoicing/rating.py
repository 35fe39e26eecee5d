"""Joins facts and usage into a priced period. Pure but for the reader it is given."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from plans import pricing, usage
from plans.invoicing.facts import Correction, Facts
from plans.month_so_far import MonthSoFar
from plans.periods import Period
from plans.pricing import Rating, Segment, SellerRule, SpaceUsage
from plans.usage import Figure, UsageCell

# Gives the figures per space and meter of a window of buckets.
Reader = Callable[[Period], Sequence[Figure]]


@dataclass(frozen=True)
class RatedPeriod:
    """The price of a period, the usage it was made from, and {month: state} after corrections.

    Lines of corrections come last and are in the rating's tax.
    """

    rating: Rating
    figures: tuple[Figure, ...]
    corrected: tuple[MonthSoFar, ...] = ()  # one for each of the facts' corrections


def rate(facts: Facts, read: Reader) -> RatedPeriod:
    """Return the period priced by its facts and the usage that ``read`` gives."""
    segments, figures = [], []
    for segment, window in zip(facts.segments, windows(facts), strict=True):
        used = list(read(window))
        figures += used
        segments.append(replace(segment, usage=_priced_usage(segment, used), counted=window))
    corrected = [_corrected(each, read, facts.seller_rule) for each in facts.corrections]
    states = {each.month: r.so_far for each, r in zip(facts.corrections, corrected, strict=True)}
    so_far = states.get(facts.month, facts.so_far)
    rating = pricing.rate(segments, facts.lifetimes, facts.seller_rule, facts.month, so_far)
    lines = [*rating.lines, *(line for each in corrected for line in each.lines)]
    tax = pricing.tax_on(sum(line.amount_minor for line in lines), facts.seller_rule)
    rating = replace(rating, lines=tuple(lines), taxes=(tax,))
    return RatedPeriod(rating, tuple(figures), tuple(each.so_far for each in corrected))


def with_usage_of_now(correction: Correction, read: Reader) -> MonthSoFar:
    """Return the state before a correction, its usage replaced by what ``read`` gives."""
    segments = tuple(
        replace(each, usage=_priced_usage(each, read(each.counted))) if each.counted else each
        for each in correction.before.segments
    )
    return replace(correction.before, segments=segments)


def _corrected(correction: Correction, read: Reader, seller: SellerRule) -> Rating:
    """Price a month again: its lines are what it costs more or less than it was charged."""
    state = with_usage_of_now(correction, read)
    rating = pricing.rate([], [], seller, correction.month, state)
    lines = (
        replace(
            line,
            kind="correction",
            description=f"Correction of {correction.number}: {line.description}",
            detail={**line.detail, "corrects": correction.number},
        )
        for line in rating.lines
    )
    return replace(rating, lines=tuple(lines))


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
