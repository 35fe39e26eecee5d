"""Finds the state of a month before the running period, also while an invoice is not priced yet."""

from dataclasses import dataclass, replace

from plans.invoicing import corrections, document, facts, rated_period
from plans.invoicing.document import Document
from plans.rating.month_so_far import MonthSoFar
from plans.rating.periods import Period
from tenants.models import Tenant


@dataclass(frozen=True)
class MonthBefore:
    """The state of a month before a period.

    ``is_priced`` is false if the previous invoice has no valid price, because it is closing or
    held. ``estimates`` has a document for each such invoice of the month, oldest first, priced with
    the usage known now; it has no manifest.
    """

    so_far: MonthSoFar
    is_priced: bool
    estimates: tuple[Document, ...] = ()


def read(tenant: Tenant, period: Period, month: Period) -> MonthBefore:
    """Return the state of ``month`` before ``period``. Writes nothing.

    The period of a closing or held invoice is priced with the usage known now. Otherwise the rest
    of the month would be charged the month's whole minimum again.
    """
    previous = corrections.previous_invoice(tenant.id, period, month)
    known = corrections.month_after(previous)
    if known is not None or previous is None:
        return MonthBefore(known or MonthSoFar(), True)
    open_period = Period(previous.starts_at, previous.ends_at)
    before = read(tenant, open_period, month)
    try:
        found = replace(facts.gather(tenant, open_period), so_far=before.so_far)
    except facts.NoSubscription:  # nothing of the period is charged
        return replace(before, is_priced=False)
    rated = rated_period.rate(found, rated_period.from_copy(tenant.id))
    made = document.build(found, rated, manifest={}, quality={}, as_of=None)
    return MonthBefore(rated.rating.so_far, False, (*before.estimates, made))
