"""Reads tenants for the operators' pages. Each function takes a constant number of queries."""

from collections.abc import Mapping
from typing import NamedTuple

from django.db.models import Count, F, Max, OrderBy, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from plans.models import Invoice, PlanSubscription, QuotaAlert, QuotaOverride
from tenants import queries
from tenants.actions import identity_providers
from tenants.models import AddressSpace, IdentityProvider, Membership, SupportConsent, Tenant


class Order(NamedTuple):
    """An order of the list of tenants: its title, and the columns."""

    title: str
    columns: tuple[str | OrderBy, ...]


SUBSETS: Mapping[str, str] = {
    "near": "Near a limit",
    "suspended": "Suspended",
    "overridden": "With limits of their own",
    "consents": "Allow help now",
    "follows": "Follow their plan",
    "stays": "Keep their version of the plan",
}
ORDERS: Mapping[str, Order] = {
    "name": Order("By name", ("name", "slug")),
    "new": Order("Newest first", ("-created_at", "slug")),
    "used": Order("Nearest to a limit first", (F("alert_level").desc(nulls_last=True), "slug")),
    "spaces": Order("Most spaces first", ("-space_count", "slug")),
    "invoiced": Order(
        "Highest last invoice first, by currency",
        # Amounts of two currencies cannot be compared.
        (
            F("last_currency").asc(nulls_last=True),
            F("last_total_minor").desc(nulls_last=True),
            "slug",
        ),
    ),
}


def listed(search: str, plan: str = "", show: str = "", sort: str = "") -> QuerySet[Tenant]:
    """Return the tenants whose name or slug contains ``search`` ('': all).

    ``plan`` is the key of a plan, ``show`` a key of ``SUBSETS``, ``sort`` a key of ``ORDERS``;
    empty ones do not select, and sort by name. Each row has these annotations:

    * ``plan_title``, ``plan_key``, ``plan_version``, ``follows_plan``: of its open subscription,
      else None.
    * ``space_count``, ``member_count``: without deleted spaces.
    * ``override_count``: its quota overrides, expired ones included.
    * ``alert_level``: the highest level, in percent, of its quota alerts that are not lifted, else
      None.
    * ``last_total_minor``, ``last_currency``: of its newest issued invoice, else None.
    """
    subscription = PlanSubscription.objects.filter(tenant=OuterRef("pk"), ends_at__isnull=True)
    alert = QuotaAlert.objects.filter(tenant=OuterRef("pk"), lifted_at__isnull=True)
    # ``order_by()`` removes a default order, which would become part of GROUP BY.
    highest = alert.order_by().values("tenant").annotate(level=Max("level_percent"))
    issued = Invoice.valid().filter(tenant=OuterRef("pk"), number__isnull=False)
    newest = issued.order_by("-starts_at")
    rows = queries.list_tenants(search).annotate(
        plan_title=Subquery(subscription.values("plan__title")[:1]),
        plan_key=Subquery(subscription.values("plan__key")[:1]),
        plan_version=Subquery(subscription.values("plan__version")[:1]),
        follows_plan=Subquery(subscription.values("follows")[:1]),
        space_count=_count(AddressSpace, Q(deleted_at__isnull=True)),
        member_count=_count(Membership, Q()),
        override_count=_count(QuotaOverride, Q()),
        alert_level=Subquery(highest.values("level")[:1]),
        last_total_minor=Subquery(newest.values("total_minor")[:1]),
        last_currency=Subquery(newest.values("currency")[:1]),
    )
    if plan:
        rows = rows.filter(plan_key=plan)
    if show:
        rows = rows.filter(_subset(show))
    return rows.order_by(*ORDERS[sort or "name"].columns)


def _subset(show: str) -> Q:
    open_consents = SupportConsent.objects.filter(
        expires_at__gt=timezone.now(), revoked_at__isnull=True
    )
    return {
        "near": Q(alert_level__isnull=False),
        "suspended": Q(suspended_at__isnull=False),
        "overridden": Q(override_count__gt=0),
        "consents": Q(pk__in=open_consents.values("tenant")),
        "follows": Q(follows_plan=True),
        "stays": Q(follows_plan=False),
    }[show]


def plan_titles() -> list[tuple[str, str]]:
    """Return (key, title) of the plans to which tenants subscribe now, by title."""
    rows = PlanSubscription.objects.filter(ends_at__isnull=True).order_by()
    # A plan whose versions have several titles appears once.
    found = dict(rows.values_list("plan__key", "plan__title").distinct())
    return sorted(found.items(), key=lambda item: item[1])


def subscription_of(tenant: Tenant) -> PlanSubscription | None:
    """Return the open subscription of a tenant, with its plan; None if it has none."""
    rows = PlanSubscription.objects.filter(tenant=tenant, ends_at__isnull=True)
    return rows.select_related("plan").first()


def provider_of(tenant: Tenant) -> Mapping[str, object] | None:
    """Return what staff see of the tenant's own identity provider; None: it has none."""
    row = IdentityProvider.objects.filter(tenant=tenant).first()
    return identity_providers.shown(row) if row else None


def spaces_of(tenant: Tenant) -> QuerySet[AddressSpace]:
    """Return the tenant's spaces that are not deleted, by name, for the operator's page."""
    return queries.list_spaces(tenant).select_related("observed_release")


def _count(
    model: type[AddressSpace] | type[Membership] | type[QuotaOverride], condition: Q
) -> Coalesce:
    """Return a subquery that counts the rows of ``model`` of the outer query's tenant.

    Not a join: the rows of several joins would multiply, and each count would be too high.
    """
    rows = model._default_manager.filter(condition, tenant=OuterRef("pk")).order_by()
    # Grouping no rows gives no row, so the subquery is NULL instead of 0.
    return Coalesce(Subquery(rows.values("tenant").annotate(n=Count("pk")).values("n")), 0)
