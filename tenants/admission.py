"""What is used against what is allowed, counted in one way everywhere.

Called by the actions inside their transaction (with the tenant or space row locked) and by pages
that show how much is left. Query counts do not depend on how much exists. Who locks both rows
locks the tenant first.
"""

from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet, Sum
from django.utils import timezone

from controlplane.core.errors import Conflict
from plans import catalog, quotas
from plans.catalog import PlanDefinition, SpacePlanDefinition
from plans.models import PlanSubscription, QuotaOverride
from plans.resources import Resource
from tenants.models import (
    Address,
    AddressSpace,
    ApiToken,
    Broker,
    Membership,
    MessagingUser,
    Placement,
    Tenant,
)
from tenants.placement import BrokerUse, Limits


class NoPlan(Conflict):
    """The tenant subscribes to no plan, so nothing can be admitted."""

    code = "plan_subscription.missing"


@dataclass(frozen=True)
class CreditUse:
    """What is placed in one space: per broker, and on the routers, in thousandths."""

    brokers: tuple[BrokerUse, ...]
    router_credit: int


def locked_tenant(tenant: Tenant) -> Tenant:
    """Return the tenant's row locked until the transaction ends: tenant quotas are checked so.

    The lock leaves rows that only refer to the tenant alone (``FOR NO KEY UPDATE``).
    """
    return Tenant.objects.select_for_update(no_key=True).get(pk=tenant.pk)


def plan_of(tenant: Tenant) -> PlanDefinition:
    """Return the definition of the plan version the tenant subscribes to now.

    Raises:
        NoPlan: none.
    """
    subscription = (
        PlanSubscription.objects.select_related("plan")
        .filter(tenant=tenant, ends_at__isnull=True)
        .first()
    )
    if subscription is None:
        raise NoPlan("This tenant has no plan: choose one under Settings first.")
    return catalog.plan_definition(subscription.plan)


def limits(tenant: Tenant) -> dict[str, int]:
    """Return the tenant's limits in force: its plan's, replaced by live overrides."""
    return in_force(tenant, plan_of(tenant))


def in_force(tenant: Tenant, plan: PlanDefinition) -> dict[str, int]:
    """Return the limits that the tenant has, or would have, on ``plan``."""
    overrides = QuotaOverride.objects.filter(tenant=tenant)
    return quotas.effective(plan, overrides, timezone.now())


def used(tenant: Tenant, resource: Resource) -> int:
    """Return how much of a counted resource the tenant has; what is being deleted counts."""
    return _rows(tenant, resource).count()


def use_of_all(tenant: Tenant) -> dict[Resource, int]:
    """Return the use of every counted resource (one query each)."""
    counted = (
        Resource.SPACES,
        Resource.ADDRESSES,
        Resource.MEMBERS,
        Resource.USERS,
        Resource.BROKERS,
        Resource.API_TOKENS,
    )
    return {resource: used(tenant, resource) for resource in counted}


def check(tenant: Tenant, resource: Resource, *, asked: int = 1) -> None:
    """Return when ``asked`` more of ``resource`` fit; asking for none reads nothing.

    Lock the tenant's row first (``locked_tenant``), or two requests may both fit.

    Raises:
        QuotaExceeded: the tenant's limit would be passed.
    """
    if asked:
        quotas.require(limits(tenant), resource, used=used(tenant, resource), asked=asked)


def check_space(space: AddressSpace, resource: Resource) -> None:
    """Return when one more address or messaging user fits the space's plan; lock the space first.

    Raises:
        QuotaExceeded: the space plan's limit would be passed.
    """
    plan = catalog.space_plan_definition(space.space_plan)
    is_address = resource == Resource.SPACE_ADDRESSES
    rows: QuerySet[Any, Any] = space.addresses.all() if is_address else space.users.all()
    limit = plan.max_addresses if is_address else plan.max_users
    n_used = rows.filter(deleted_at__isnull=True).count()
    quotas.require({resource: limit}, resource, used=n_used, asked=1)


def credit_use(space: AddressSpace) -> CreditUse:
    """Return what is placed in the space, Migrating and Draining included."""
    placed = Placement.objects.filter(address__space=space, address__deleted_at__isnull=True)
    credits = Sum("placements__broker_credit", filter=Q(placements__in=placed))
    brokers = Broker.objects.filter(space=space).order_by("ordinal").annotate(credits=credits)
    return CreditUse(
        tuple(BrokerUse(each.ordinal, each.credits or 0) for each in brokers),
        placed.aggregate(total=Sum("router_credit"))["total"] or 0,
    )


def space_limits(plan: SpacePlanDefinition) -> Limits:
    """Return the placement limits of a space plan."""
    return Limits(plan.router_credit, plan.broker_credit, plan.aggregate_credit, plan.max_brokers)


def _rows(tenant: Tenant, resource: Resource) -> QuerySet[Any, Any]:
    alive: dict[Resource, QuerySet[Any, Any]] = {
        Resource.SPACES: AddressSpace.objects.filter(tenant=tenant, deleted_at__isnull=True),
        Resource.ADDRESSES: Address.objects.filter(space__tenant=tenant, deleted_at__isnull=True),
        Resource.MEMBERS: Membership.objects.filter(tenant=tenant),
        Resource.USERS: MessagingUser.objects.filter(space__tenant=tenant, deleted_at__isnull=True),
        Resource.BROKERS: Broker.objects.filter(
            space__tenant=tenant, space__deleted_at__isnull=True
        ),
        Resource.API_TOKENS: ApiToken.objects.filter(tenant=tenant, revoked_at__isnull=True),
    }
    return alive[resource]
