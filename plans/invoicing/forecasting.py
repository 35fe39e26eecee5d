"""Forecasts the price of the running period. Writes nothing.

The forecast assumes that usage goes on at its average pace so far on the present plan, and that
spaces and addresses run on to the end of the period.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from plans.invoicing import previewing, rated_period
from plans.invoicing.billing_inputs import KnownLifetimes
from plans.invoicing.previewing import Preview
from plans.rating.periods import Period
from plans.usage import meters
from plans.usage.reading import Figure
from tenants.models import Tenant

# From less time than this, the pace says too little about the rest of the period.
LEAST = timedelta(days=1)


def total_minor(tenant: Tenant, now: datetime) -> int | None:
    """Return the likely total of the running period with tax, in minor units.

    None if usage on the present plan is known for less than ``LEAST``, or if no usage was copied
    yet.

    Raises:
        NoSubscription: the tenant has no plan in any part of the period.
        Unavailable: no catalog is published.
    """
    return from_preview(tenant, previewing.preview(tenant, now), now)


def from_preview(tenant: Tenant, preview: Preview, now: datetime) -> int | None:
    """Return the forecast as ``total_minor`` does, from the ``preview`` of ``now``.

    It reads only the lifetimes to the end of the period: what exists now is priced until then.
    """
    known = min(preview.as_of, now) if preview.as_of else None
    # Only the window of the plan in force still runs; earlier plans have all their usage.
    last = rated_period.windows(preview.facts)[-1]
    if known is None or known < last.starts_at + LEAST:
        return None

    def expected(window: Period) -> list[Figure]:
        figures = list(preview.read(window))
        return [_scaled(figure, last, known) for figure in figures] if window == last else figures

    return _total(tenant, preview, expected)


def least_minor(tenant: Tenant, preview: Preview) -> int:
    """Return what the running period costs at least with tax, if spaces and addresses stay.

    That is its fee, their hours until its end, and the usage so far. Unlike the forecast, it is
    known from the first minute of a period on.
    """
    return _total(tenant, preview, preview.read)


def _total(tenant: Tenant, preview: Preview, read: Callable[[Period], Sequence[Figure]]) -> int:
    """Return the total of the period with usage by ``read``; lifetimes go on to its end."""
    whole = KnownLifetimes.read(tenant, preview.period)
    found = replace(
        preview.facts,
        known_lifetimes=whole,
        lifetimes=whole.lifetimes(preview.facts.seller_rule.currency),
    )
    rating = rated_period.rate(found, read).rating
    return rating.net_minor + rating.tax_minor


def _scaled(figure: Figure, window: Period, known: datetime) -> Figure:
    """Return the usage of the whole ``window`` at the pace of its part before ``known``.

    A peak stays: more time does not make it higher.
    """
    if meters.BY_SLUG[figure.meter].kind is not meters.Kind.COUNTER:
        return figure
    elapsed = Period(window.starts_at, known).seconds
    return figure._replace(quantity=figure.quantity * window.seconds // elapsed)
