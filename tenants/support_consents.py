"""Queries for the consent of a tenant that staff act in its pages."""

from datetime import datetime

from django.db.models import QuerySet

from tenants.models import Role, SupportConsent, Tenant

# The roles that a consent can give, the one with fewest permissions first. With them staff can
# neither see amounts nor change tokens or members.
ROLES = (Role.VIEWER, Role.DEVELOPER)


def in_force(tenant: Tenant, now: datetime) -> QuerySet[SupportConsent, SupportConsent]:
    """Return the tenant's consents that are neither over at ``now`` nor revoked, newest first."""
    return SupportConsent.objects.filter(
        tenant=tenant, expires_at__gt=now, revoked_at__isnull=True
    ).order_by("-created_at", "-id")


def of(tenant: Tenant, now: datetime) -> SupportConsent | None:
    """Return the newest consent in force at ``now``; None if there is none."""
    return in_force(tenant, now).first()


def get(tenant: Tenant, now: datetime, pk: int) -> SupportConsent | None:
    """Return the consent with the key ``pk`` if it is in force at ``now``, else None."""
    return in_force(tenant, now).filter(pk=pk).first()
