"""Quota checks: compares what a tenant or a space uses with what its plan allows.

Actions call it inside their transaction, with the tenant's or the space's row locked. Pages and the
API, which show limits and use, call it without a lock. The number of queries does not grow with the
number of rows. To avoid deadlocks, a caller that locks both rows locks the tenant's first.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet, Sum
from django.utils import timezone

from controlplane.core.errors import Conflict
from plans.catalog import publishing, sold_sizes
from plans.catalog.definitions import PlanDefinition, SpacePlanDefinition
from plans.models import PlanSubscription, QuotaOverride
from plans.quotas import checks
from plans.quotas.resources import Resource
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
    """The tenant has no open subscription to a plan, so nothing can be admitted."""

    code = "plan_subscription.missing"


@dataclass(frozen=True)
class CreditUse:
    """The credit that the addresses of one space take: per broker, and on all routers together."""

    brokers: tuple[BrokerUse, ...]
    router_credit: int


def locked_tenant(tenant: Tenant) -> Tenant:
    """Return the tenant's row, locked until the transaction ends.

    So two actions on one tenant check quotas and other rules one after the other. ``FOR NO KEY
    UPDATE``: other transactions can still insert rows that refer to the tenant.
    """
    return Tenant.objects.select_for_update(no_key=True).get(pk=tenant.pk)


def plan_of(tenant: Tenant) -> PlanDefinition:
    """Return the definition of the plan version that the tenant subscribes to now.

    Raises:
        NoPlan: the tenant has no open subscription.
    """
    subscription = (
        PlanSubscription.objects.select_related("plan")
        .filter(tenant=tenant, ends_at__isnull=True)
        .first()
    )
    if subscription is None:
        raise NoPlan("This tenant has no plan: choose one under Settings first.")
    return publishing.plan_definition(subscription.plan)


def limits(tenant: Tenant) -> dict[str, int]:
    """Return the tenant's limits in force: those of its plan, unless an override replaces them."""
    return in_force(tenant, plan_of(tenant))


def in_force(tenant: Tenant, plan: PlanDefinition) -> dict[str, int]:
    """Return the limits that the tenant has, or would have, on ``plan``.

    Overrides in force replace those of the plan.
    """
    overrides = QuotaOverride.objects.filter(tenant=tenant)
    return checks.effective(plan, overrides, timezone.now())


def used(tenant: Tenant, resource: Resource) -> int:
    """Return how many rows of ``resource`` the tenant has. Rows that are being deleted count.

    Raises:
        KeyError: the resource is not counted in rows per tenant.
    """
    return counted_rows(tenant, resource).count()


def use_of_all(tenant: Tenant) -> dict[Resource, int]:
    """Return {resource: number of rows} for each resource that is counted in rows per tenant."""
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
    """Check that ``asked`` more of ``resource`` fit the tenant's limit. For 0 it reads nothing.

    Lock the tenant's row first (``locked_tenant``); otherwise two concurrent requests may both pass
    and together exceed the limit.

    Raises:
        QuotaExceeded: the tenant's limit would be exceeded.
        NoPlan: the tenant has no open subscription.
    """
    if asked:
        checks.require(limits(tenant), resource, used=used(tenant, resource), asked=asked)


def check_space(space: AddressSpace, resource: Resource) -> None:
    """Check that one more address or messaging user fits the space's plan. Lock the space first.

    ``resource`` is SPACE_ADDRESSES; any other value means messaging users.

    Raises:
        QuotaExceeded: the space plan's limit would be exceeded.
    """
    plan = publishing.space_plan_definition(space.space_plan)
    is_address = resource == Resource.SPACE_ADDRESSES
    rows: QuerySet[Any, Any] = space.addresses.all() if is_address else space.users.all()
    limit = plan.max_addresses if is_address else plan.max_users
    n_used = rows.filter(deleted_at__isnull=True).count()
    checks.require({resource: limit}, resource, used=n_used, asked=1)


def credit_use(space: AddressSpace) -> CreditUse:
    """Return the credit that the space's addresses take, in placements of every state."""
    # An address keeps its credit until its deletion is complete.
    placed = Placement.objects.filter(address__space=space, address__deleted_at__isnull=True)
    credits = Sum("placements__broker_credit", filter=Q(placements__in=placed))
    brokers = Broker.objects.filter(space=space).order_by("ordinal").annotate(credits=credits)
    stored = stored_bytes(placed)
    return CreditUse(
        tuple(
            BrokerUse(broker.ordinal, broker.credits or 0, stored[broker.pk]) for broker in brokers
        ),
        placed.aggregate(total=Sum("router_credit"))["total"] or 0,
    )


def stored_bytes(placed: QuerySet[Placement, Placement]) -> Counter[str]:
    """Return {broker id: bytes that the placed addresses may store on it}, in one query."""
    rows = placed.exclude(broker=None).select_related("address__address_plan")
    found: Counter[str] = Counter()
    for row in rows:
        found[str(row.broker_id)] += bytes_of(row.address)
    return found


def bytes_of(address: Address) -> int:
    """Return the bytes that an address may store on each of its brokers, by its plan.

    A lower limit of its own does not count, so that it can be raised again.
    """
    return sold_sizes.stored_bytes(publishing.address_plan_definition(address.address_plan))


def space_limits(plan: SpacePlanDefinition) -> Limits:
    """Return the placement limits of a space plan."""
    # A plan of before the size was a part of plans sells no bytes, so nothing is refused for them.
    knows = plan.broker_disk_gb is not None or not plan.broker_persistent
    return Limits(
        plan.router_credit,
        plan.broker_credit,
        plan.aggregate_credit,
        plan.max_brokers,
        plan.message_bytes(0) if knows else None,
    )


def counted_rows(tenant: Tenant, resource: Resource) -> QuerySet[Any, Any]:
    """Return the tenant's rows that count against its limit of ``resource``.

    Raises:
        KeyError: the resource is not counted in rows per tenant, such as a metered one.
    """
    # Querysets are lazy: only the chosen one is evaluated.
    counted: dict[Resource, QuerySet[Any, Any]] = {
        Resource.SPACES: AddressSpace.objects.filter(tenant=tenant, deleted_at__isnull=True),
        Resource.ADDRESSES: Address.objects.filter(space__tenant=tenant, deleted_at__isnull=True),
        Resource.MEMBERS: Membership.objects.filter(tenant=tenant),
        Resource.USERS: MessagingUser.objects.filter(space__tenant=tenant, deleted_at__isnull=True),
        Resource.BROKERS: Broker.objects.filter(
            space__tenant=tenant, space__deleted_at__isnull=True
        ),
        Resource.API_TOKENS: ApiToken.objects.filter(tenant=tenant, revoked_at__isnull=True),
    }
    return counted[resource]
