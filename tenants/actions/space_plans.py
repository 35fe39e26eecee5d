"""Move a space to another plan: its size, its limits and its hourly price."""

from typing import Any

from django.db import transaction
from django.utils import timezone

from controlplane.core import audit
from controlplane.core.audit import Actor
from controlplane.core.errors import Conflict
from controlplane.core.models import Operation
from plans import catalog
from plans.catalog import SpacePlanDefinition
from plans.models import SpacePlan
from tenants import admission, space_types
from tenants.actions import address_spaces
from tenants.models import AddressSpace, FormerSpacePlan

_KIND = f"{address_spaces.SUBJECT}.change_plan"


class PlanTooSmall(Conflict):
    """The plan cannot hold what is in the space."""

    code = "space_plan.too_small"


def change(
    *, space: AddressSpace, space_plan: str, by: Actor, if_generation: int | None = None
) -> Operation:
    """Want the newest version of ``space_plan`` for the space; it costs that price from now on.

    What is placed stays where it is. Brokers and routers take their new size on one at a time, each
    with a restart (``workers.reconcile.rolling``). Asked for the plan that it has, the space stays
    as it is, and the operation ends by itself.

    Raises:
        Missing: no such plan. SpaceTerminating: the space is being deleted. GenerationChanged:
        ``if_generation`` is not the present one. Invalid: the plan is for another type of space.
        TypeNotOffered: the installation cannot run the type. Denied: the tenant's plan does not
        include the plan. PlanTooSmall: more is in the space than it allows; the fields say what.
    """
    plan = catalog.space_plan(space_plan)
    with transaction.atomic():
        tenant = admission.locked_tenant(space.tenant)
        locked = address_spaces.lock_for_change(space)
        address_spaces.check_generation(locked, if_generation)
        address_spaces.check_type(locked.type, plan)
        space_types.check(locked.type)
        address_spaces.check_allowed(tenant, plan)
        if locked.space_plan_id != plan.pk:
            _check_holds(locked, plan)
            _move(locked, plan, by)
        return address_spaces.begin(locked, _KIND)


def _move(space: AddressSpace, plan: SpacePlan, by: Actor) -> None:
    former = space.space_plan
    FormerSpacePlan.objects.create(space=space, space_plan=former, ended_at=timezone.now())
    space.space_plan = plan
    space.generation += 1
    space.plan_generation = space.generation
    space.save(update_fields=["space_plan", "generation", "plan_generation", "updated_at"])
    audit.record(by, _KIND, address_spaces.subject(space), before=_told(former), after=_told(plan))


def _told(plan: SpacePlan) -> dict[str, str | int]:
    return {"plan": plan.key, "version": plan.version}


def _check_holds(space: AddressSpace, plan: SpacePlan) -> None:
    """Refuse a plan that is too small for the addresses, users and credits that are there."""
    there, allowed = _there(space), _allowed(catalog.space_plan_definition(plan))
    over = {name: used for name, used in there.items() if used > allowed[name]}
    if over:
        told = ", ".join(f"{used} {name.replace('_', ' ')}" for name, used in over.items())
        reasons: dict[str, Any] = {
            name: [f"{used} are there, {allowed[name]} allowed."] for name, used in over.items()
        }
        raise PlanTooSmall(
            f"The plan {plan.key!r} is too small for this space, which has {told}: delete some, or "
            "choose a larger plan.",
            **reasons,
        )


def _there(space: AddressSpace) -> dict[str, int]:
    credit = admission.credit_use(space)
    placed = sum(each.used_credit for each in credit.brokers)
    return {
        "addresses": space.addresses.filter(deleted_at__isnull=True).count(),
        "users": space.users.filter(deleted_at__isnull=True).count(),
        "brokers": sum(each.used_credit > 0 for each in credit.brokers),
        "router_credit": credit.router_credit,
        "broker_credit": placed,
        "aggregate_credit": credit.router_credit + placed,
    }


def _allowed(plan: SpacePlanDefinition) -> dict[str, int]:
    return {
        "addresses": plan.max_addresses,
        "users": plan.max_users,
        "brokers": plan.max_brokers,
        "router_credit": plan.router_credit,
        "broker_credit": plan.broker_credit,
        "aggregate_credit": plan.aggregate_credit,
    }
