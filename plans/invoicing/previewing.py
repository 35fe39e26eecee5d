"""Prices the running period of a tenant, as an invoice document without a number."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.utils import timezone

from plans.invoicing import document, facts, month_before, open_periods, rated_period
from plans.invoicing.document import Document
from plans.invoicing.facts import Facts
from plans.ledger import credit, grants
from plans.rating.periods import Period
from plans.rating.pricing import Rating
from plans.usage import reading
from plans.usage.reading import Figure
from tenants.models import Tenant

_NOTE = "A preview: the period is still running and later samples will be added."
_NOTE_OPEN = (
    " The previous invoice of this month is not a draft yet. Its period is priced here with the "
    "usage known so far, and the final invoice may differ."
)


@dataclass(frozen=True)
class Preview:
    """A priced running period. Fee and included amounts are those up to the end of the period.

    ``document`` is an invoice document without number and manifest, which is not stored. Usage and
    hours are those known so far; ``as_of`` is up to when usage is complete (None: no usage was
    copied yet). ``credit_minor`` is the credit that can pay the invoice of the period. ``facts`` is
    what was priced, with lifetimes until now; ``rating`` is its price, which ``document`` states.
    ``read`` returns usage, and reads each window once. ``estimates`` are documents of the month's
    closing and held invoices (``month_before``).
    """

    period: Period
    as_of: datetime | None
    document: dict[str, Any]
    credit_minor: int
    facts: Facts
    rating: Rating
    read: rated_period.Reader
    estimates: tuple[Document, ...]

    @property
    def total_minor(self) -> int:
        total: int = self.document["total_minor"]
        return total

    @property
    def estimated_minor(self) -> int:
        """What the month's closing and held invoices come to with the usage known now, with tax."""
        return sum(made["total_minor"] for made in self.estimates)


def preview(tenant: Tenant, now: datetime | None = None) -> Preview:
    """Return the tenant's running period, priced with the usage known so far. Writes nothing.

    Corrections of earlier usage are not included. While the previous invoice of the month is
    closing or held, the document's note on quality says so (``month_before``).

    Raises:
        NoSubscription: the tenant has no plan in any part of the period.
        Unavailable: no catalog is published.
    """
    instant = now or timezone.now()
    period, as_of = open_periods.running(tenant, instant), reading.as_of()
    found = facts.gather(tenant, period, until=instant)
    before = month_before.read(tenant, period, found.month)
    found = replace(found, so_far=before.so_far)
    # Cached, because ``total_with`` and ``forecasting`` read the same windows again.
    read = functools.cache(rated_period.from_copy(tenant.id))
    rated = rated_period.rate(found, read)
    note = _NOTE if before.is_priced else _NOTE + _NOTE_OPEN
    quality = {"flagged": False, "text": note, "crash_gaps": [], "covered_holes": 0, "late": []}
    made = document.build(found, rated, manifest={}, quality=quality, as_of=as_of)
    left = credit_minor(tenant.id, found.legal_entity, made["currency"], period.ends_at)
    return Preview(period, as_of, made, left, found, rated.rating, read, before.estimates)


def credit_minor(tenant_id: str, legal_entity: str, currency: str, at: datetime) -> int:
    """Return all credit that an invoice can use which is issued at ``at`` or soon after."""
    granted = grants.available(tenant_id, legal_entity, currency)
    lasting = sum(
        row.left_minor for row in granted if row.expires_at is None or at < row.expires_at
    )
    return credit.before(tenant_id, legal_entity, currency) + lasting


def total_with(preview: Preview, more: Sequence[Figure]) -> int:
    """Return the total with tax if ``more`` was used too, on the plan in force now."""
    # What is not landed yet was used just now, so it belongs to the plan in force.
    last = rated_period.windows(preview.facts)[-1]

    def read(window: Period) -> Sequence[Figure]:
        figures = preview.read(window)
        return [*figures, *more] if window == last else figures

    rating = rated_period.rate(preview.facts, read).rating
    return rating.net_minor + rating.tax_minor
