"""A tenant's own spend cap: what it wants to pay at most in a month, and what happens then."""

from django.db import transaction

from controlplane.core import audit, enqueue
from controlplane.core.audit import Actor
from controlplane.core.errors import Invalid
from plans.models import SpendCap
from plans.quotas.resources import AtQuota
from tenants import admission
from tenants.actions import tenants
from tenants.models import Tenant

LARGEST = 10**12  # minor units


def check(amount_minor: int, action: str) -> None:
    """Check the values of a cap.

    Raises:
        Invalid: the amount is not positive or too large, or there is no such action.
    """
    wrong: dict[str, list[str]] = {}
    if not 1 <= amount_minor < LARGEST:
        wrong["amount_minor"] = [f"From 1 to {LARGEST - 1}, in minor units."]
    if action not in set(AtQuota):
        wrong["action"] = [f"One of: {', '.join(AtQuota)}."]
    if wrong:
        names = ", ".join(sorted(wrong))
        raise Invalid(f"The cap is not valid: {names}.", code="spend_cap.invalid", **wrong)


def set_cap(*, tenant: Tenant, amount_minor: int, action: str, by: Actor) -> SpendCap:
    """Set the tenant's cap, in minor units of its plan's currency; it replaces an earlier one.

    Quotas are enforced again at once. Idempotent.

    Raises:
        Invalid: as ``check``. NoPlan: the tenant has no plan, so it has no currency.
    """
    check(amount_minor, action)
    with transaction.atomic():
        locked = admission.locked_tenant(tenant)
        currency = admission.plan_of(locked).currency
        former = SpendCap.objects.filter(tenant=locked).first()
        cap, _ = SpendCap.objects.update_or_create(
            tenant=locked,
            defaults={
                "amount_minor": amount_minor,
                "currency": currency,
                "action": action,
                "set_by": by.name,
            },
        )
        audit.record(
            by,
            "spend_cap.set",
            tenants.subject(locked),
            before=_audited(former) if former else None,
            after=_audited(cap),
        )
        enqueue.after_commit("workers.enforce_quotas", tenant_id=locked.pk)
    return cap


def clear_cap(*, tenant: Tenant, by: Actor) -> None:
    """Delete the tenant's cap; what it restricted is lifted at once. Idempotent."""
    with transaction.atomic():
        locked = admission.locked_tenant(tenant)
        former = SpendCap.objects.filter(tenant=locked).first()
        if former:
            former.delete()
            audit.record(by, "spend_cap.clear", tenants.subject(locked), before=_audited(former))
            enqueue.after_commit("workers.enforce_quotas", tenant_id=locked.pk)


def _audited(cap: SpendCap) -> dict[str, object]:
    return {"amount_minor": cap.amount_minor, "currency": cap.currency, "action": cap.action}
