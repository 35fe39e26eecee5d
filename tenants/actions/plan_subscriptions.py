"""Move a tenant to another commercial plan."""

from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from controlplane.core import audit, nudge
from controlplane.core.audit import Actor
from controlplane.core.errors import Conflict, QuotaExceeded
from plans import catalog, quotas
from plans.catalog import PlanDefinition
from plans.models import PlanSubscription
from plans.resources import WORDS
from tenants import admission
from tenants.actions import tenants
from tenants.models import Address, AddressSpace, Tenant

_SHORTEST = timedelta(microseconds=1)  # a subscription lasts at least this long


class PlanLacks(Conflict):
    """Spaces or addresses of the tenant are of plans that the new plan does not include."""

    code = "plan_subscription.lacks_plans"


def change(*, tenant: Tenant, plan_key: str, by: Actor) -> PlanSubscription:
    """End the open subscription now and open one to the newest version of ``plan_key``.

    The same plan version again changes nothing.

    Raises:
        Missing: no such plan. QuotaExceeded: what exists does not fit the new plan. PlanLacks:
        spaces or addresses are of plans that it does not include.
    """
    plan = catalog.plan(plan_key)
    with transaction.atomic():
        locked = admission.locked_tenant(tenant)
        present = (
            PlanSubscription.objects.select_related("plan")
            .filter(tenant=locked, ends_at__isnull=True)
            .first()
        )
        if present is not None and present.plan_id == plan.pk:
            return present
        _check_fits(locked, catalog.plan_definition(plan))
        now = timezone.now() if present is None else _end(present)
        opened = PlanSubscription.objects.create(tenant=locked, plan=plan, starts_at=now)
        before = {"plan": present.plan.key if present else ""}
        subject, after = tenants.subject(locked), {"plan": plan.key}
        audit.record(by, "plan_subscription.change", subject, before=before, after=after)
        nudge.after_commit("workers.enforce_quotas", tenant_id=locked.pk)
    return opened


def _end(present: PlanSubscription) -> datetime:
    now = max(timezone.now(), present.starts_at + _SHORTEST)
    present.ends_at = now
    present.save(update_fields=["ends_at", "updated_at"])
    return now


def _check_fits(tenant: Tenant, plan: PlanDefinition) -> None:
    over = quotas.exceeded(admission.in_force(tenant, plan), admission.use_of_all(tenant))
    for resource, (limit, used) in over.items():
        raise QuotaExceeded(
            f"The plan {plan.title} allows {limit:,} {WORDS[resource]} and you have "
            f"{used:,}. Delete {used - limit:,} of them first, or choose a larger plan.",
            resource=resource.value,
            limit=limit,
            used=used,
            asked=0,
        )
    lacking = sorted(_in_use(tenant) - {*plan.space_plans, *plan.address_plans})
    if lacking:
        raise PlanLacks(
            f"The plan {plan.title} does not include {', '.join(lacking)}, which your spaces or "
            "addresses use. Delete those first, or choose another plan.",
            lacking=lacking,
        )


def _in_use(tenant: Tenant) -> set[str]:
    spaces = AddressSpace.objects.filter(tenant=tenant, deleted_at__isnull=True)
    addresses = Address.objects.filter(space__tenant=tenant, deleted_at__isnull=True)
    return {
        *spaces.values_list("space_plan__key", flat=True).distinct(),
        *addresses.values_list("address_plan__key", flat=True).distinct(),
    }
