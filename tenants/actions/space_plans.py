"""Move a space to another plan, which sets its size, its limits and its hourly price."""

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from controlplane.core import audit
from controlplane.core.audit import Actor
from controlplane.core.errors import Conflict
from controlplane.core.models import Operation
from plans.catalog import publishing
from plans.catalog.definitions import SpacePlanDefinition
from plans.models import SpacePlan
from tenants import admission, plan_restarts, space_types
from tenants.actions import address_spaces
from tenants.models import AddressSpace, FormerSpacePlan

_KIND = f"{address_spaces.SUBJECT}.change_plan"


class PlanTooSmall(Conflict):
    """The space uses more of something than the new plan allows."""

    code = "space_plan.too_small"


class StorageDiffers(Conflict):
    """The new plan needs other volumes than those of the space's brokers, which keep theirs."""

    code = "space_plan.storage_differs"


def change(
    *, space: AddressSpace, space_plan: str, by: Actor, if_generation: int | None = None
) -> Operation:
    """Move the space to the newest version of ``space_plan``, and bill that plan from now on.

    ``space_plan`` is the key of the plan. Placed addresses stay on their brokers. The workers
    restart brokers and routers one at a time in their new size (``workers.reconcile.rolling``). A
    space that has this version already is not changed. In both cases, returns an operation, which
    ends after a reconcile pass and names the instances that restart.

    Raises:
        Invalid: no such plan. SpaceTerminating: the space is being deleted. GenerationChanged:
        ``if_generation`` is given and is not the row's. Invalid: the plan is for another space
        type. TypeNotOffered: the installation cannot run the type. Denied: the tenant's plan does
        not include the space plan. PlanTooSmall: the space uses more than the plan allows; the
        error's fields say of what. StorageDiffers: the space's brokers would need other volumes.
    """
    plan = publishing.space_plan(space_plan)
    with transaction.atomic():
        tenant = admission.locked_tenant(space.tenant)
        locked = address_spaces.lock_for_change(space)
        address_spaces.check_generation(locked, if_generation)
        address_spaces.check_type(locked.type, plan)
        space_types.check(locked.type)
        address_spaces.check_allowed(tenant, plan)
        # The same plan version needs no capacity check and no row of a former plan.
        restarting = restarts(locked, publishing.space_plan_definition(plan))
        if locked.space_plan_id != plan.pk:
            check_storage(locked, plan)
            check_capacity(locked, plan)
            _move(locked, plan, by)
        return address_spaces.begin(locked, _KIND, by, restarts=restarting)


def restarts(space: AddressSpace, plan: SpacePlanDefinition) -> Sequence[str]:
    """Return the names of the instances that restart when the space moves to ``plan``."""
    return plan_restarts.find(space, publishing.space_plan_definition(space.space_plan), plan)


def _move(space: AddressSpace, plan: SpacePlan, by: Actor) -> None:
    former = space.space_plan
    # Billing reads the former plans, so that the hours until now keep their price.
    FormerSpacePlan.objects.create(space=space, space_plan=former, ended_at=timezone.now())
    space.space_plan = plan
    space.generation += 1
    space.plan_generation = space.generation
    space.save(update_fields=["space_plan", "generation", "plan_generation", "updated_at"])
    subject = address_spaces.subject(space)
    audit.record(by, _KIND, subject, before=named(former), after=named(plan))


def named(plan: SpacePlan) -> dict[str, str | int]:
    """Return {"plan": key, "version": number} of a space plan, for audit events."""
    return {"plan": plan.key, "version": plan.version}


def check_storage(space: AddressSpace, plan: SpacePlan) -> None:
    """Raise StorageDiffers if the brokers of the space would need other volumes with ``plan``.

    That is, with a disk instead of none, none instead of one, or a disk of another size. A volume
    is never replaced, because it stores messages. A space without brokers may change. The caller
    has locked the row of the space.
    """
    old = publishing.space_plan_definition(space.space_plan)
    new = publishing.space_plan_definition(plan)
    # A plan without a size has volumes of the size that the installation sets.
    storage = [
        (size.broker_persistent, size.broker_disk_gb or settings.SPACE_STORAGE_GB)
        for size in (old, new)
    ]
    if storage[0] != storage[1] and space.brokers.exists():
        words = [f"{disk_gb} GiB" if kept else "no disk" for kept, disk_gb in storage]
        raise StorageDiffers(
            f"The brokers of this space have {words[0]} each, and those of the plan {plan.key!r} "
            f"{words[1]}: a volume cannot be replaced. Choose another plan, or create a new space "
            "with this one.",
        )


def check_capacity(space: AddressSpace, plan: SpacePlan) -> None:
    """Raise PlanTooSmall if the space uses more of anything than ``plan`` allows.

    The error's fields name everything that is too much, with the number in use and the number
    allowed. What is being deleted still counts. The caller has locked the row of the space.
    """
    size, credit = publishing.space_plan_definition(plan), admission.credit_use(space)
    placed = sum(broker.used_credit for broker in credit.brokers)
    # name -> (in use, allowed). Rows that are being deleted still count.
    use: dict[str, tuple[int, int]] = {
        "addresses": (space.addresses.filter(deleted_at__isnull=True).count(), size.max_addresses),
        "users": (space.users.filter(deleted_at__isnull=True).count(), size.max_users),
        # An empty broker does not count: the workers remove it.
        "brokers": (sum(broker.used_credit > 0 for broker in credit.brokers), size.max_brokers),
        "router_credit": (credit.router_credit, size.router_credit),
        "broker_credit": (placed, size.broker_credit),
        "aggregate_credit": (credit.router_credit + placed, size.aggregate_credit),
    }
    capacity = admission.space_limits(size).broker_bytes
    if capacity is not None:
        most = max((broker.used_bytes for broker in credit.brokers), default=0)
        use["broker_bytes"] = (most, capacity)
    over = {name: (used, allowed) for name, (used, allowed) in use.items() if used > allowed}
    if over:
        listed = ", ".join(f"{used} {name.replace('_', ' ')}" for name, (used, _) in over.items())
        reasons: dict[str, Any] = {
            name: [f"{used} in use, {allowed} allowed."] for name, (used, allowed) in over.items()
        }
        raise PlanTooSmall(
            f"The plan {plan.key!r} is too small for this space, which has {listed}: delete some, "
            "or choose a larger plan.",
            **reasons,
        )
