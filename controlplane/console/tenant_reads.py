"""Reads tenants for the operators' pages. Each function takes a constant number of queries."""

from django.db.models import Count, Max, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from plans.models import PlanSubscription, QuotaAlert, QuotaOverride
from tenants import queries
from tenants.models import AddressSpace, Membership, Tenant


def listed(search: str) -> QuerySet[Tenant]:
    """Return the tenants whose name or slug contains ``search`` ('': all), by name.

    Each has these annotations:

    * ``plan_title``: of its open subscription, else None.
    * ``space_count``, ``member_count``: without deleted spaces.
    * ``override_count``: its quota overrides, expired ones included.
    * ``alert_level``: the highest level, in percent, of its quota alerts that are not lifted, else
      None.
    """
    plan = PlanSubscription.objects.filter(tenant=OuterRef("pk"), ends_at__isnull=True)
    alert = QuotaAlert.objects.filter(tenant=OuterRef("pk"), lifted_at__isnull=True)
    # ``order_by()`` removes a default order, which would become part of GROUP BY.
    highest = alert.order_by().values("tenant").annotate(level=Max("level_percent"))
    return queries.list_tenants(search).annotate(
        plan_title=Subquery(plan.values("plan__title")[:1]),
        space_count=_count(AddressSpace, Q(deleted_at__isnull=True)),
        member_count=_count(Membership, Q()),
        override_count=_count(QuotaOverride, Q()),
        alert_level=Subquery(highest.values("level")[:1]),
    )


def spaces_of(tenant: Tenant) -> QuerySet[AddressSpace]:
    """Return the tenant's spaces that are not deleted, by name, for the operator's page."""
    return queries.list_spaces(tenant)


def _count(
    model: type[AddressSpace] | type[Membership] | type[QuotaOverride], condition: Q
) -> Coalesce:
    """Return a subquery that counts the rows of ``model`` of the outer query's tenant.

    Not a join: the rows of several joins would multiply, and each count would be too high.
    """
    rows = model._default_manager.filter(condition, tenant=OuterRef("pk")).order_by()
    # Grouping no rows gives no row, so the subquery is NULL instead of 0.
    return Coalesce(Subquery(rows.values("tenant").annotate(n=Count("pk")).values("n")), 0)
