"""Quota checks: compare what a tenant or a space uses with what its plan allows.

Actions call this module inside their transaction, with the tenant's or the space's row locked.
Pages and the API, which show limits and use, call it without a lock. The number of queries does not
grow with the number of rows. To avoid deadlocks, a caller that locks both rows locks the tenant's
first.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet, Sum
from django.utils import timezone

from controlplane.core.errors import Conflict
from plans.catalog import publishing, sold_sizes
from plans.catalog.definitions import PlanDefinition, SpacePlanDefinition
from plans.models import PlanSubscription, QuotaOverride
from plans.quotas import checks
from plans.quotas.resources import METERED, TENANT_RESOURCES, Resource
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
    """The tenant has no open subscription to a plan, so no change can be admitted."""

    code = "plan_subscription.missing"


@dataclass(frozen=True)
class CreditUse:
    """What the addresses of one space take: per broker, and on all routers together.

    ``brokers`` has one element for each broker row of the space, in the order of ordinals.
    ``router_credit`` is in thousandths.
    """

    brokers: tuple[BrokerUse, ...]
    router_credit: int


def locked_tenant(tenant: Tenant) -> Tenant:
    """Read the tenant's row again and lock it until the transaction ends; return it.

    So two actions on one tenant check quotas and other rules one after the other. The lock is ``FOR
    NO KEY UPDATE``: other transactions can still insert rows that refer to the tenant.
    """
    return Tenant.objects.select_for_update(no_key=True).get(pk=tenant.pk)


def plan_of(tenant: Tenant) -> PlanDefinition:
    """Return the version of the plan that the tenant subscribes to now, in its currency.

    Raises:
        NoPlan: the tenant has no open subscription.
    """
    plan = open_plan(tenant)
    if plan is None:
        raise no_plan(tenant)
    return plan


def no_plan(tenant: Tenant) -> NoPlan:
    """Return the error of a tenant without an open subscription; its text says what to do."""
    if tenant.erase_at is not None:
        return NoPlan("This tenant is being erased, which has ended its plan: no plan can follow.")
    return NoPlan("This tenant has no plan: choose one under Settings first.")


def open_plan(tenant: Tenant) -> PlanDefinition | None:
    """Return the plan as ``plan_of`` does; None if the tenant has no open subscription.

    The tenant never had one, or its erasure has ended it.
    """
    subscription = (
        PlanSubscription.objects.select_related("plan", "tenant__seller_assignment")
        .filter(tenant=tenant, ends_at__isnull=True)
        .first()
    )
    if subscription is None:
        return None
    return publishing.sold_plan(subscription)


def limits(tenant: Tenant) -> dict[str, int]:
    """Return {resource: limit} of the tenant: its plan's limits, replaced by overrides in force.

    A resource without an entry is not limited.

    Raises:
        NoPlan: the tenant has no open subscription.
    """
    return in_force(tenant, plan_of(tenant))


def in_force(tenant: Tenant, plan: PlanDefinition) -> dict[str, int]:
    """Return {resource: limit} that the tenant has, or would have, on ``plan``.

    Limits of overrides that are in force now replace those of the plan. A resource without an entry
    is not limited.
    """
    overrides = QuotaOverride.objects.filter(tenant=tenant)
    return checks.effective(plan, overrides, timezone.now())


def used(tenant: Tenant, resource: Resource) -> int:
    """Return how many rows of ``resource`` the tenant has, those that are being deleted included.

    Raises:
        KeyError: the resource is not counted in rows per tenant.
    """
    return counted_rows(tenant, resource).count()


def use_of_all(tenant: Tenant) -> dict[Resource, int]:
    """Return {resource: number of rows} for each resource that is counted in rows per tenant."""
    return {resource: used(tenant, resource) for resource in _COUNTED}


def check(tenant: Tenant, resource: Resource, *, asked: int = 1) -> None:
    """Check that ``asked`` more of ``resource`` fit the tenant's limit; 0 always fits.

    Lock the tenant's row first (``locked_tenant``); otherwise two concurrent requests may both pass
    and together exceed the limit.

    Raises:
        QuotaExceeded: the tenant's limit would be exceeded.
        NoPlan: the tenant has no open subscription.
        KeyError: the resource is not counted in rows per tenant.
    """
    if asked:
        checks.require(limits(tenant), resource, used=used(tenant, resource), asked=asked)


def check_space(space: AddressSpace, resource: Resource) -> None:
    """Check that one more address or messaging user fits the limit of the space's plan.

    ``resource`` is SPACE_ADDRESSES or SPACE_USERS. Lock the row of the space first.

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
    """Return the credit that the space's addresses take, and the bytes that they may store.

    Placements of every state count, also those of addresses that are being deleted.
    """
    # An address keeps its credit until its deletion is complete.
    placed = Placement.objects.filter(address__space=space, address__deleted_at__isnull=True)
    # A filter of the sum, not of the rows: a broker without placements must stay in the list.
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
    """Return {broker id: bytes that the addresses of ``placed`` may store there}, in one query.

    Placements on routers are left out. A broker without a placement counts as 0.
    """
    rows = placed.exclude(broker=None).select_related("address__address_plan")
    found: Counter[str] = Counter()
    for row in rows:
        found[str(row.broker_id)] += bytes_of(row.address)
    return found


def bytes_of(address: Address) -> int:
    """Return the bytes that the plan of an address lets it store on each of its brokers.

    The address may have set a lower ``max_bytes``. That is ignored here, so that the tenant can
    raise it again.
    """
    return sold_sizes.stored_bytes(publishing.address_plan_definition(address.address_plan))


def space_limits(plan: SpacePlanDefinition) -> Limits:
    """Return the limits of a space plan in the form that ``placement.place`` takes."""
    # Old versions of plans do not name ``broker_disk_gb``. The installation then sets the size of
    # the volumes, and admission does not limit the bytes.
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
    return _COUNTED[resource](tenant)


# Resource -> the tenant's rows that count against its limit. Pages and checks iterate it.
_COUNTED: Mapping[Resource, Callable[[Tenant], QuerySet[Any, Any]]] = {
    Resource.SPACES: lambda tenant: AddressSpace.objects.filter(
        tenant=tenant, deleted_at__isnull=True
    ),
    Resource.ADDRESSES: lambda tenant: Address.objects.filter(
        space__tenant=tenant, deleted_at__isnull=True
    ),
    # Not the open invitations: ``memberships.add`` checks again when one is accepted.
    Resource.MEMBERS: lambda tenant: Membership.objects.filter(tenant=tenant),
    Resource.USERS: lambda tenant: MessagingUser.objects.filter(
        space__tenant=tenant, deleted_at__isnull=True
    ),
    Resource.BROKERS: lambda tenant: Broker.objects.filter(
        space__tenant=tenant, space__deleted_at__isnull=True
    ),
    Resource.API_TOKENS: lambda tenant: ApiToken.objects.filter(
        tenant=tenant, revoked_at__isnull=True
    ),
}
# A quota that nothing counts would be shown and priced, and limit nobody.
if uncounted := set(TENANT_RESOURCES) - METERED.keys() - _COUNTED.keys():
    raise RuntimeError(f"quotas of tenants that nothing counts: {sorted(uncounted)}")
