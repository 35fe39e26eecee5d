"""Reads of spaces for pages, on top of ``tenants.queries``. Constant query counts."""

from django.db.models import Count, Q, QuerySet

from controlplane.core.models import Operation
from tenants import queries
from tenants.models import AddressSpace, Tenant


def listed(tenant: Tenant) -> QuerySet[AddressSpace]:
    """Return the tenant's spaces with their plans and how many addresses each has."""
    alive = Count("addresses", filter=Q(addresses__deleted_at__isnull=True))
    return queries.list_spaces(tenant).annotate(address_count=alive)


def phases(tenant: Tenant) -> list[tuple[str, int]]:
    """Return how many spaces of the tenant stand in each phase."""
    spaces = queries.list_spaces(tenant).select_related(None).order_by()
    return sorted(spaces.values_list("phase").annotate(count=Count("id")))


def operations(space: AddressSpace) -> QuerySet[Operation]:
    """Return what was asked of the space and of all in it, newest first."""
    inside = (
        Q(subject_id=space.id)
        | Q(subject_id__in=space.addresses.values("id"))
        | Q(subject_id__in=space.users.values("id"))
    )
    return queries.list_operations(space.tenant).filter(inside)


def running(space: AddressSpace) -> QuerySet[Operation]:
    """Return what is still being done in the space, newest first."""
    return operations(space).filter(state=Operation.State.RUNNING)
