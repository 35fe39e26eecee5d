"""Quota overrides: limits that staff set for one tenant in place of its plan's limits."""

from datetime import datetime

from django.db import transaction
from django.utils import timezone

from controlplane.core import audit, enqueue
from controlplane.core.audit import Actor
from controlplane.core.errors import Invalid
from plans.models import QuotaOverride
from plans.quotas.resources import TENANT_RESOURCES
from tenants.actions import tenants
from tenants.models import Tenant

LARGEST = 2**53  # JSON readers that use doubles keep integers exact up to here


def set_override(
    *,
    tenant: Tenant,
    resource: str,
    amount: int,
    reason: str,
    expires_at: datetime | None,
    by: Actor,
) -> QuotaOverride:
    """Set the tenant's limit of ``resource`` to ``amount``, in place of its plan's limit.

    The override replaces an earlier one of the same resource. It ends at ``expires_at``; with None
    it stays until ``clear_override``. Quotas are enforced again at once.

    Raises:
        Invalid: unknown resource, amount out of range, no reason, or an expiry in the past.
    """
    _check(resource, amount, reason, expires_at)
    with transaction.atomic():
        former = QuotaOverride.objects.filter(tenant=tenant, resource=resource).first()
        override, _ = QuotaOverride.objects.update_or_create(
            tenant=tenant,
            resource=resource,
            defaults={
                "amount": amount,
                "reason": reason,
                "expires_at": expires_at,
                "set_by": by.name,
            },
        )
        audit.record(
            by,
            "quota_override.set",
            tenants.subject(tenant),
            reason=reason,
            before=_audited(former) if former else None,
            after=_audited(override),
        )
        # Do not wait for the periodic task: a higher limit should restore ``send`` at once.
        enqueue.after_commit("workers.enforce_quotas", tenant_id=tenant.pk)
    return override


def clear_override(*, tenant: Tenant, resource: str, by: Actor) -> None:
    """Delete the tenant's override of ``resource``, so that the plan's limit counts again.

    Quotas are enforced again at once. Idempotent.
    """
    with transaction.atomic():
        former = QuotaOverride.objects.filter(tenant=tenant, resource=resource).first()
        if former:
            former.delete()
            audit.record(
                by, "quota_override.clear", tenants.subject(tenant), before=_audited(former)
            )
            enqueue.after_commit("workers.enforce_quotas", tenant_id=tenant.pk)


def _audited(override: QuotaOverride) -> dict[str, object]:
    """Return what an audit event holds of an override."""
    ends = override.expires_at
    return {
        "resource": override.resource,
        "amount": override.amount,
        "expires_at": ends.isoformat() if ends else None,
    }


def _check(resource: str, amount: int, reason: str, expires_at: datetime | None) -> None:
    wrong: dict[str, list[str]] = {}
    if resource not in TENANT_RESOURCES:
        wrong["resource"] = [f"One of: {', '.join(TENANT_RESOURCES)}."]
    if not 0 <= amount <= LARGEST:
        wrong["amount"] = [f"From 0 to {LARGEST}."]
    # PostgreSQL stores no NUL in a text.
    if not reason.strip() or "\x00" in reason:
        wrong["reason"] = ["Say why; the audit log keeps the reason."]
    if expires_at is not None and expires_at <= timezone.now():
        wrong["expires_at"] = ["Give a time in the future, or none."]
    if wrong:
        names = ", ".join(sorted(wrong))
        raise Invalid(
            f"The override is not valid: {names}.", code="quota_override.invalid", **wrong
        )
