"""What the running period costs so far, as a document without a number."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.utils import timezone

from plans import usage
from plans.invoicing import credit, document, earlier, facts, open_periods, rating
from plans.periods import Period
from tenants.models import Tenant

_NOTE = "A preview: the period is still running and later samples will be added."


@dataclass(frozen=True)
class Preview:
    """The running period priced: whole fee and included amounts, usage and hours so far.

    ``credit_minor`` is what invoices in its currency need not pay, the next ones first.
    """

    period: Period
    as_of: datetime | None
    document: dict[str, Any]
    credit_minor: int

    @property
    def total_minor(self) -> int:
        total: int = self.document["total_minor"]
        return total


def preview(tenant: Tenant, now: datetime | None = None) -> Preview:
    """Return the running period's document as far as usage is known. Writes nothing.

    Raises:
        NoSubscription: the tenant has no plan.
    """
    instant = now or timezone.now()
    period, as_of = open_periods.running(tenant, instant), usage.as_of()
    found = facts.gather(tenant, period, until=instant)
    before = earlier.so_far(earlier.find(tenant.id, period, found.month))
    found = replace(found, so_far=before or found.so_far)
    rated = rating.rate(found, rating.from_copy(tenant.id))
    quality = {"flagged": False, "text": _NOTE, "crash_gaps": [], "covered_holes": 0, "late": []}
    made = document.build(found, rated, manifest={}, quality=quality, as_of=as_of)
    return Preview(period, as_of, made, credit.credit_minor(tenant, made["currency"]))
