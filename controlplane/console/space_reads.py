"""Queries of one tenant's spaces. Each takes a constant number of queries."""

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from controlplane.core.models import Operation
from tenants import queries
from tenants.models import Address, AddressSpace, Tenant


def listed(tenant: Tenant) -> QuerySet[AddressSpace]:
    """Return the tenant's spaces that are not deleted, by name, with their plans.

    Each has ``address_count``: the number of its addresses that are not deleted.
    """
    # A deleted address keeps its row, because its usage is still billed. Not a join: it would
    # group all columns of the spaces over all their addresses.
    alive = Address.objects.filter(space=OuterRef("pk"), deleted_at__isnull=True).order_by()
    count = Subquery(alive.values("space").annotate(n=Count("pk")).values("n"))
    # Grouping no rows gives no row, so the subquery is NULL instead of 0.
    return queries.list_spaces(tenant).annotate(address_count=Coalesce(count, 0))


def phases(tenant: Tenant) -> list[tuple[str, int]]:
    """Return (phase, number of the tenant's spaces in this phase), sorted by phase.

    Deleted spaces do not count. Phases without spaces are left out.
    """
    # ``order_by()`` removes the order by name, which would add the name to GROUP BY.
    spaces = queries.list_spaces(tenant).select_related(None).order_by()
    return sorted(spaces.values_list("phase").annotate(count=Count("id")))


def operations(space: AddressSpace) -> QuerySet[Operation]:
    """Return the operations on the space, its addresses, messages and users, newest first."""
    # Operations have no foreign key to their subject, only its id.
    inside = (
        Q(subject_id=space.id)
        | Q(subject_id__in=space.addresses.values("id"))
        | Q(subject_id__in=space.users.values("id"))
        | Q(subject_id__in=queries.list_message_requests(space).order_by().values("id"))
    )
    return queries.list_operations(space.tenant).filter(inside)


def running(space: AddressSpace) -> QuerySet[Operation]:
    """Return those of ``operations(space)`` that are still running."""
    return operations(space).filter(state=Operation.State.RUNNING)
