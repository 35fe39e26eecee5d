"""Prices a period from its facts and its usage. Pure, except that a ``Reader`` may query rows."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from plans.invoicing.facts import Correction, Facts
from plans.rating import pricing
from plans.rating.billable import Segment, SpaceUsage
from plans.rating.month_so_far import MonthSoFar
from plans.rating.periods import Period
from plans.rating.pricing import Rating, SellerRule
from plans.usage import reading
from plans.usage.reading import Figure, UsageCell

BUCKET_SECONDS = 900
# Takes a window of buckets and returns the usage in it: one figure per space and meter.
Reader = Callable[[Period], Sequence[Figure]]


@dataclass(frozen=True)
class RatedPeriod:
    """The price of a period, its usage, and the states of the corrected months.

    The last lines of ``rating`` are the correction lines, and its taxes cover them. ``figures`` has
    the usage of the period, one segment after the other.
    """

    rating: Rating
    figures: tuple[Figure, ...]
    corrected: tuple[MonthSoFar, ...] = ()  # one for each of the facts' corrections


def rate(facts: Facts, read: Reader) -> RatedPeriod:
    """Return the priced period of ``facts``, with the usage that ``read`` returns.

    Also prices the months of ``facts.corrections`` again.
    """
    segments, figures = [], []
    for segment, window in zip(facts.segments, windows(facts), strict=True):
        used = list(read(window))
        figures += used
        segments.append(replace(segment, usage=priced_usage(segment, used), counted=window))
    corrected = [_corrected(row, read, facts.seller_rule) for row in facts.corrections]
    states = {row.month: r.so_far for row, r in zip(facts.corrections, corrected, strict=True)}
    # If the earlier part of this month is corrected, this period continues that state.
    so_far = states.get(facts.month, facts.so_far)
    rating = pricing.rate(
        segments, facts.lifetimes, facts.seller_rule, facts.month, so_far, facts.terms
    )
    lines = [*rating.lines, *(line for correction in corrected for line in correction.lines)]
    taxes = pricing.taxes_on(lines, facts.seller_rule)
    rating = replace(rating, lines=tuple(lines), taxes=taxes)
    return RatedPeriod(rating, tuple(figures), tuple(correction.so_far for correction in corrected))


def with_usage_of_now(correction: Correction, read: Reader) -> MonthSoFar:
    """Return the billed state of a correction's month, with its usage replaced by today's.

    ``read`` returns today's usage. The result equals ``correction.before`` if no usage that a rule
    of the month prices has changed.
    """
    segments = tuple(
        replace(row, usage=priced_usage(row, read(row.counted))) if row.counted else row
        for row in correction.before.segments
    )
    return replace(correction.before, segments=segments)


def _corrected(correction: Correction, read: Reader, seller: SellerRule) -> Rating:
    """Price a correction's month again with today's usage.

    The lines, of kind ``correction``, charge the difference from what the month was charged, and
    bear the tax of the correction.
    """
    state = with_usage_of_now(correction, read)
    # Without new segments and lifetimes, pricing yields only ``repriced`` lines.
    rating = pricing.rate([], [], seller, correction.month, state)
    lines = (
        replace(
            line,
            kind="correction",
            description=f"Correction of {correction.number}: {line.description}",
            detail={**line.detail, "corrects": correction.number},
            tax=correction.tax,
        )
        for line in rating.lines
    )
    return replace(rating, lines=tuple(lines))


def windows(facts: Facts) -> list[Period]:
    """Return for each segment the window of the buckets that it pays for.

    A bucket is in the window in which the bucket starts. So the plan in force at the start of a
    bucket pays for it, with one exception: a plan without a direct predecessor also pays for the
    bucket in which it began. Usage in a gap between two plans is in no window (see ``gaps``).
    """
    if facts.engine == "3":
        return _windows_of_engine_3(facts)
    found = []
    before = facts.period.starts_at
    for segment in facts.segments:
        start = segment.period.starts_at
        # A plan after a gap also pays for the bucket in which the plan began.
        found.append(Period(start if start == before else max(before, bucket_of(start)),
                            segment.period.ends_at))  # fmt: skip
        before = segment.period.ends_at
    return found


def gaps(facts: Facts) -> list[Period]:
    """Return the parts of the period whose usage no plan pays for, in order of time."""
    found = []
    before = facts.period.starts_at
    for window in windows(facts):
        if before < window.starts_at:
            found.append(Period(before, window.starts_at))
        before = window.ends_at
    if before < facts.period.ends_at:
        found.append(Period(before, facts.period.ends_at))
    return found


def bucket_of(instant: datetime) -> datetime:
    """Return the start of the bucket of usage, of 15 minutes, in which ``instant`` is."""
    seconds = int(instant.timestamp())
    return datetime.fromtimestamp(seconds - seconds % BUCKET_SECONDS, UTC)


def _windows_of_engine_3(facts: Facts) -> list[Period]:
    starts = [facts.period.starts_at, *(s.period.starts_at for s in facts.segments[1:])]
    ends = [*starts[1:], facts.period.ends_at]
    return [Period(start, end) for start, end in zip(starts, ends, strict=True)]


def from_copy(tenant_id: str) -> Reader:
    """Return a reader that queries the tenant's copied gold usage at each call."""
    return lambda window: reading.by_space(tenant_id, window.starts_at, window.ends_at)


def from_cells(cells: Iterable[UsageCell], tenant_id: str) -> Reader:
    """Return a reader of ``cells``, which stay in memory; cells of other tenants are ignored."""
    mine = [cell for cell in cells if cell.tenant_id == tenant_id and cell.quantity]
    return lambda window: reading.summed_by_space(
        cell for cell in mine if window.contains(cell.bucket_at)
    )


def priced_usage(segment: Segment, figures: Sequence[Figure]) -> tuple[SpaceUsage, ...]:
    """Return the part of ``figures`` that the rules of ``segment`` price, by space and meter."""
    space_ids = sorted({figure.space_id for figure in figures})
    found = []
    for rule in segment.rules:
        for space_id in space_ids:
            mine = [figure for figure in figures if figure.space_id == space_id]
            quantity = reading.quantity_of(rule.meter, mine)
            if quantity:
                found.append(SpaceUsage(space_id, rule.meter, quantity))
    return tuple(found)
