"""Ends discounts and minimum commitments of tenants early. Staff only.

What an invoice was priced with is never taken back: an end lies after every invoice that has a
document. Each function may be repeated; the second call changes nothing.
"""

from datetime import datetime

from django.db import transaction
from django.utils import timezone

from controlplane.core import audit
from controlplane.core.audit import Actor
from controlplane.core.errors import Conflict, Invalid, Missing
from plans.models import Commitment, Coupon, Discount, Invoice
from plans.rating.periods import month_of
from tenants.models import Tenant


class TermsBilled(Conflict):
    """An invoice that ends after the new end of the discount or commitment was priced already."""

    code = "terms.billed"


def end_discount(
    *,
    tenant: Tenant,
    discount_id: str,
    reason: str,
    by: Actor,
    at_once: bool = False,
    now: datetime | None = None,
) -> Discount:
    """End a discount with the running billing month; with ``at_once``, before this month.

    Raises:
        Missing: the tenant has no such discount.
        TermsBilled: ``at_once``, and an invoice of the running month has a document.
    """
    month = month_of(now or timezone.now(), tenant.billing_time_zone)
    with transaction.atomic():
        # Locked, so that of two ends at once the second one sees what the first one stored.
        row = Discount.objects.select_for_update().filter(tenant=tenant, pk=discount_id).first()
        if row is None:
            raise Missing("There is no such discount.", code="discount.missing")
        # A discount that began this month and ends at once has an empty time: no month counts it.
        ends_at = max(row.starts_at, month.starts_at if at_once else month.ends_at)
        if row.ends_at is not None and row.ends_at <= ends_at:
            return row  # an end never moves to a later instant
        # No invoice covers time after the running month, so its end needs no check.
        if at_once:
            _require_unbilled(tenant, ends_at)
        _end(row, ends_at, "discount", reason, by)
    return row


def end_commitment(
    *,
    tenant: Tenant,
    commitment_id: str,
    reason: str,
    by: Actor,
    ends_at: datetime | None = None,
    now: datetime | None = None,
) -> Commitment:
    """End a commitment at ``ends_at``, by default with the running billing month.

    A month that it then covers in part counts by its seconds.

    Raises:
        Missing: the tenant has no such commitment.
        Invalid: the end is before its beginning, or after the end that was agreed.
        TermsBilled: an invoice that ends later has a document.
    """
    instant = ends_at or month_of(now or timezone.now(), tenant.billing_time_zone).ends_at
    with transaction.atomic():
        row = Commitment.objects.select_for_update().filter(tenant=tenant, pk=commitment_id).first()
        if row is None:
            raise Missing("There is no such commitment.", code="commitment.missing")
        agreed = row.ends_at
        # By default a commitment that ends before the running month does stays as it was agreed.
        if agreed == instant or (agreed is not None and ends_at is None and agreed < instant):
            return row
        if instant < row.starts_at or (agreed is not None and instant > agreed):
            raise Invalid(
                "End a commitment after its beginning, and not later than agreed.",
                code="commitment.end",
                ends_at=["An instant inside the time of the commitment."],
            )
        _require_unbilled(tenant, instant)
        _end(row, instant, "commitment", reason, by)
    return row


def end_coupon(*, code: str, reason: str, by: Actor, now: datetime | None = None) -> Coupon:
    """Let no further tenant redeem a coupon. Discounts that it gave go on.

    Raises:
        Missing: there is no such coupon.
    """
    instant = now or timezone.now()
    with transaction.atomic():
        row = Coupon.objects.select_for_update().filter(code=code.strip().upper()).first()
        if row is None:
            raise Missing("There is no such coupon: check its code.", code="coupon.missing")
        if row.expires_at is None or row.expires_at > instant:
            row.expires_at = instant
            row.save(update_fields=["expires_at", "updated_at"])
            subject = audit.Subject("coupon", row.code, row.title)
            audit.record(by, "coupon.end", subject, reason=reason)
    return row


def _require_unbilled(tenant: Tenant, since: datetime) -> None:
    # Without a document an invoice was not priced yet: its close will read the new end.
    billed = Invoice.objects.filter(tenant=tenant, ends_at__gt=since).exclude(document="")
    last = billed.order_by("-ends_at").values_list("ends_at", flat=True).first()
    if last is not None:
        raise TermsBilled(
            f"An invoice up to {last.isoformat()} was priced with it: end it then, or later."
        )


def _end(row: Discount | Commitment, ends_at: datetime, kind: str, reason: str, by: Actor) -> None:
    before = {"ends_at": row.ends_at.isoformat() if row.ends_at else None}
    row.ends_at = ends_at
    row.save(update_fields=["ends_at", "updated_at"])
    subject = audit.Subject(kind, row.pk, row.title, row.tenant_id)
    after = {"ends_at": ends_at.isoformat()}
    audit.record(by, f"{kind}.end", subject, before=before, after=after, reason=reason)
