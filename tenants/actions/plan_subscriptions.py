"""Move a tenant to another plan."""

from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from controlplane.core import audit, enqueue
from controlplane.core.audit import Actor
from controlplane.core.errors import Conflict, QuotaExceeded
from plans.catalog import publishing
from plans.catalog.definitions import PlanDefinition
from plans.models import Plan, PlanSubscription
from plans.quotas import checks
from plans.quotas.resources import WORDS
from tenants import admission
from tenants.actions import tenants
from tenants.models import Address, AddressSpace, Tenant

# The shortest subscription: it must end after it began, even if the clock shows the same time.
_SHORTEST = timedelta(microseconds=1)


class PlanLacks(Conflict):
    """Spaces or addresses of the tenant use plans that its new plan does not include."""

    code = "plan_subscription.lacks_plans"


def change(*, tenant: Tenant, plan_key: str, by: Actor) -> PlanSubscription:
    """End the tenant's open subscription now and open one to the newest version of ``plan_key``.

    Returns the open subscription. Idempotent: a tenant that has this version of the plan already
    keeps its subscription. A tenant without a subscription gets its first one. Quotas are enforced
    again at once.

    Raises:
        Invalid: no such plan. QuotaExceeded: the tenant has more spaces, addresses, members, users,
        brokers or tokens than the new plan, or an override, allows. PlanLacks: spaces or addresses
        use plans that the new plan does not include.
    """
    plan = publishing.plan(plan_key)
    with transaction.atomic():
        locked = admission.locked_tenant(tenant)
        present = (
            PlanSubscription.objects.select_related("plan")
            .filter(tenant=locked, ends_at__isnull=True)
            .first()
        )
        if present is not None and present.plan_id == plan.pk:
            return present
        check_fits(locked, publishing.plan_definition(plan))
        # One instant for both, so that the subscriptions neither overlap nor leave a gap.
        now = timezone.now()
        if present is not None:
            now = present.ends_at = max(now, present.starts_at + _SHORTEST)
            present.moves_at = present.moves_by = None
            # Saved before the new one is created: a constraint allows one open subscription.
            present.save(update_fields=["ends_at", "moves_at", "moves_by", "updated_at"])
        opened = PlanSubscription.objects.create(
            tenant=locked,
            plan=plan,
            starts_at=now,
            trial_ends_at=_trial_end(locked, plan, now),
            # What the tenant chose once counts for its next plans too.
            follows=present is not None and present.follows,
        )
        before = {"plan": present.plan.key if present else ""}
        subject, after = tenants.subject(locked), {"plan": plan.key}
        audit.record(by, "plan_subscription.change", subject, before=before, after=after)
        enqueue.after_commit("workers.enforce_quotas", tenant_id=locked.pk)
    return opened


def _trial_end(tenant: Tenant, plan: Plan, now: datetime) -> datetime | None:
    """Return when the trial of a tenant that subscribes to ``plan`` ends; None: it has none.

    Only a tenant's first plan begins a trial. A running one goes on with the next plan.
    """
    last = PlanSubscription.objects.filter(tenant=tenant).order_by("starts_at").last()
    if last is None:
        return publishing.trial_end(plan, now)
    running = last.trial_ends_at is not None and last.trial_ends_at > now
    return last.trial_ends_at if running else None


def check_fits(tenant: Tenant, plan: PlanDefinition) -> None:
    """Check that what the tenant has fits ``plan``.

    Raises:
        QuotaExceeded: the tenant has more of a resource than the plan, or an override, allows.
        PlanLacks: spaces or addresses use plans that ``plan`` does not include.
    """
    over = checks.exceeded(admission.in_force(tenant, plan), admission.use_of_all(tenant))
    # Only the first exceeded limit is reported.
    for resource, (limit, used) in over.items():
        raise QuotaExceeded(
            f"The plan {plan.title} allows {limit:,} {WORDS[resource]} and you have "
            f"{used:,}. Delete {used - limit:,} of them first, or choose a larger plan.",
            resource=resource.value,
            limit=limit,
            used=used,
            asked=0,
        )
    spaces = AddressSpace.objects.filter(tenant=tenant, deleted_at__isnull=True)
    addresses = Address.objects.filter(space__tenant=tenant, deleted_at__isnull=True)
    in_use = {
        *spaces.values_list("space_plan__key", flat=True).distinct(),
        *addresses.values_list("address_plan__key", flat=True).distinct(),
    }
    lacking = sorted(in_use - {*plan.space_plans, *plan.address_plans})
    if lacking:
        raise PlanLacks(
            f"The plan {plan.title} does not include {', '.join(lacking)}, which your spaces or "
            "addresses use. Delete those first, or choose another plan.",
            lacking=lacking,
        )
