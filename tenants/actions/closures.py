"""Close a tenant: an owner requests it, can undo it for some time, and then it is erased."""

from collections.abc import Callable
from datetime import datetime, timedelta

import structlog
from django.conf import settings
from django.db import InterfaceError, OperationalError, transaction
from django.utils import timezone

from controlplane.core import audit, enqueue, instants
from controlplane.core.audit import SYSTEM, Actor
from plans.models import PlanSubscription
from tenants import admission, queries
from tenants.actions import address_spaces, kept_volumes, suspensions, tenants
from tenants.actions.suspensions import TenantState
from tenants.models import (
    ApiToken,
    IdentityProvider,
    Invitation,
    KeptVolumes,
    Membership,
    SupportConsent,
    Tenant,
    TenantNote,
)
from tenants.notifications import outbox
from tenants.notifications.models import (
    Channel,
    Event,
    PersonPreference,
    SpendBudget,
    TenantPreference,
)

logger = structlog.get_logger(__name__)


def request(*, tenant: Tenant, by: Actor, now: datetime | None = None) -> Tenant:
    """Request that the tenant is closed: clients cannot send, and members can change little.

    It is erased after ``TENANT_ERASE_DAYS`` days, unless an owner undoes the request before. Owners
    and admins get a mail. Idempotent: a repeated request keeps the first time.
    """
    now = now or timezone.now()
    with transaction.atomic():
        locked = admission.locked_tenant(tenant)
        if locked.erase_at is None:
            locked.erase_at = now + timedelta(days=settings.TENANT_ERASE_DAYS)
            locked.save(update_fields=["erase_at", "updated_at"])
            ends = f"{locked.erase_at:%Y-%m-%d %H:%M} UTC"
            audit.record(by, "tenant.close", tenants.subject(locked), after={"erase_at": ends})
            fields = {
                "erase_on": instants.text(locked.erase_at),
                "requested_by": by.name.removeprefix("user:"),
            }
            outbox.write("tenant.closing", tenant=locked, key=f"{locked.pk}:{now}", fields=fields)
            suspensions.withdraw_send(locked, by, "the organization is being closed")
    return locked


def undo(*, tenant: Tenant, by: Actor, now: datetime | None = None) -> Tenant:
    """Undo the request to close the tenant. Idempotent.

    Raises:
        TenantState: the time to undo it is over.
    """
    with transaction.atomic():
        locked = admission.locked_tenant(tenant)
        if locked.erase_at is not None:
            if locked.erase_at <= (now or timezone.now()):
                raise TenantState("It is too late to undo this: the organization is being erased.")
            locked.erase_at = None
            locked.save(update_fields=["erase_at", "updated_at"])
            audit.record(by, "tenant.keep", tenants.subject(locked))
            enqueue.after_commit("workers.enforce_quotas", tenant_id=locked.pk)
    return locked


def erase_due(now: datetime, *, is_settled: Callable[[Tenant], bool]) -> int:
    """Go on with the erasure of every tenant whose time has come; return how many are erased now.

    First the spaces are deleted, with all messages, also those in volumes that were kept. When
    workers have ended that, the plan ends. Once nothing is left to bill (``is_settled``),
    memberships, invitations, channels and the like are deleted, and tokens are revoked. The
    accounts of people stay. So do invoices, billing details, usage and the audit log. Idempotent. A
    tenant whose step fails is logged, and the next call tries again.

    Raises:
        OperationalError, InterfaceError: at once, because the database is not available.
    """
    n_erased = 0
    for tenant in Tenant.objects.filter(erase_at__lte=now, erased_at__isnull=True).order_by("id"):
        try:
            n_erased += _erase(tenant, now, is_settled)
        except (OperationalError, InterfaceError):
            raise  # an outage would fail all other tenants too
        except Exception as error:  # one faulty tenant must not stop the erasure of the others
            logger.error("a tenant was not erased", tenant=tenant.pk, exc_info=error)
    return n_erased


def _erase(tenant: Tenant, now: datetime, is_settled: Callable[[Tenant], bool]) -> bool:
    """Do the next step of one tenant's erasure; return whether it was the last one."""
    with transaction.atomic():
        locked = admission.locked_tenant(tenant)
        if locked.erase_at is None or locked.erased_at is not None:
            return False
        # Spaces that are deleted already, whose messages were to be kept.
        kept = KeptVolumes.objects.filter(
            space__tenant=locked, space__deleted_at__isnull=False, released_at__isnull=True
        )
        for space_id in kept.values_list("space_id", flat=True):
            kept_volumes.release(space_id=space_id, by=SYSTEM)
        spaces = list(queries.list_spaces(locked))
        for space in spaces:
            if space.deletion_requested_at is None:
                address_spaces.delete(space=space, by=SYSTEM)
        if spaces:
            return False  # workers still delete them; a later call goes on
        PlanSubscription.objects.filter(tenant=locked, ends_at__isnull=True).update(ends_at=now)
        if not is_settled(locked):
            return False  # the owners still get invoices, and complete the billing details
        _erase_people(locked, now)
        locked.erased_at = now
        locked.save(update_fields=["erased_at", "updated_at"])
        audit.record(SYSTEM, "tenant.erase", tenants.subject(locked))
    return True


def _erase_people(tenant: Tenant, now: datetime) -> None:
    ApiToken.objects.filter(tenant=tenant, revoked_at__isnull=True).update(revoked_at=now)
    for rows in (
        IdentityProvider,
        Membership,
        Invitation,
        Channel,
        PersonPreference,
        TenantPreference,
        SpendBudget,
        Event,
        SupportConsent,
        TenantNote,
    ):
        rows.objects.filter(tenant=tenant).delete()
