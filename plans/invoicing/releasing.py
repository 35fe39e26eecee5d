"""Staff release a held invoice whose samples are gone for good, and its period is closed again.

The new close checks everything again. It passes over the released reasons, and holds the invoice
for any other.
"""

from dataclasses import asdict
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from controlplane.core import audit
from controlplane.core.audit import Actor
from controlplane.core.errors import Conflict, Invalid
from controlplane.core.models import Operation
from plans.invoicing import invoice_closing, releases, states
from plans.invoicing.releases import Release
from plans.models import Invoice
from tenants.models import Tenant

REASON_LENGTH = 500  # characters; the invoice states the reason


class NotReleasable(Conflict):
    """The invoice is not held, or each of its reasons must be corrected."""

    code = "invoice.not_releasable"


def release(
    *, invoice: Invoice, reason: str, by: Actor, now: datetime | None = None
) -> tuple[Invoice, Operation]:
    """Accept the reasons of a held invoice that staff may release, and request its close again.

    ``reason`` says why the samples cannot be had any more; the invoice and the audit log state it.
    Returns the invoice and the operation of the close.

    Raises:
        Invalid: there is no reason, or it is too long.
        NotReleasable: the invoice is not held, or each of its reasons must be corrected.
    """
    because = reason.strip()
    if not 0 < len(because) <= REASON_LENGTH:
        raise Invalid(f"Give a reason of at most {REASON_LENGTH} characters.")
    at = now or timezone.now()
    with transaction.atomic():
        # The tenant's lock comes before that of an invoice.
        Tenant.objects.select_for_update().get(pk=invoice.tenant_id)
        row = states.locked(invoice)
        accepted = releases.releasable(row.held_reasons)
        if row.state != Invoice.State.HELD or not accepted:
            codes = ", ".join(releases.MISSING)
            raise NotReleasable(
                f"Only a held invoice with one of the reasons {codes} can be released. Correct "
                "other reasons, then close the invoice again.",
                state=row.state,
            )
        stamp = at.isoformat()
        made = [Release(found["code"], found["message"], because, stamp) for found in accepted]
        row.releases = [*row.releases, *map(asdict, made)]
        row.save(update_fields=["releases", "updated_at"])
        audit.record(
            by,
            "invoice.release",
            states.subject_of(row),
            after={"reasons": accepted},
            reason=because,
        )
        return invoice_closing.request_close(
            tenant=row.tenant,
            starts_at=row.starts_at,
            ends_at=row.ends_at,
            by=by,
            now_forced=True,
            now=now,
        )
