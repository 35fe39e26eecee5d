"""Suspend a tenant and restore it. Only the operator's staff may; the callers check that."""

from django.db import transaction
from django.utils import timezone

from controlplane.core import audit, enqueue
from controlplane.core.audit import Actor
from controlplane.core.errors import Conflict, Invalid
from tenants import admission, queries
from tenants.actions import restrictions, tenants
from tenants.models import Tenant
from tenants.notifications import outbox

LONGEST_REASON = 300  # characters


class TenantState(Conflict):
    """The tenant's state does not allow this."""

    code = "tenant.wrong_state"


def suspend(*, tenant: Tenant, reason: str, by: Actor) -> Tenant:
    """Suspend the tenant: its clients cannot send, and its members and tokens can change little.

    Clients still receive what is stored, and members see everything and pay invoices. Owners,
    admins and members with the role billing get a mail with ``reason``. A tenant that is suspended
    already keeps its first reason.

    Raises:
        Invalid: the reason is empty or too long. TenantState: the tenant is erased.
    """
    reason = " ".join(reason.split())
    if not reason or len(reason) > LONGEST_REASON or not reason.isprintable():
        raise Invalid(
            f"Say why, in at most {LONGEST_REASON} printable characters: all members of the tenant "
            "read it.",
            code="tenant.reason_invalid",
            reason=[f"1 to {LONGEST_REASON} characters."],
        )
    with transaction.atomic():
        locked = admission.locked_tenant(tenant)
        if locked.erased_at is not None:
            raise TenantState("The tenant is erased.")
        if locked.suspended_at is None:
            now = timezone.now()
            locked.suspended_at, locked.suspension_reason = now, reason
            locked.save(update_fields=["suspended_at", "suspension_reason", "updated_at"])
            subject = tenants.subject(locked)
            audit.record(by, "tenant.suspend", subject, reason=reason)
            fields = {"reason": locked.suspension_sentence}
            # The time makes each suspension an event of its own.
            key = f"{locked.pk}:{now}"
            outbox.write("tenant.suspended", tenant=locked, key=key, fields=fields)
            withdraw_send(locked, by, reason)
    return locked


def restore(*, tenant: Tenant, by: Actor) -> Tenant:
    """End the suspension of the tenant. The receivers of its mail get another one. Idempotent.

    The enforcement of quotas, which starts after the commit, lets clients send again. It does not
    let them if a quota is used up, invoices are overdue for long, or the tenant is being closed.
    """
    with transaction.atomic():
        locked = admission.locked_tenant(tenant)
        if locked.suspended_at is not None:
            now = timezone.now()
            before = {"reason": locked.suspension_reason}
            locked.suspended_at, locked.suspension_reason = None, ""
            locked.save(update_fields=["suspended_at", "suspension_reason", "updated_at"])
            audit.record(by, "tenant.restore", tenants.subject(locked), before=before)
            outbox.write("tenant.restored", tenant=locked, key=f"{locked.pk}:{now}", fields={})
            enqueue.after_commit("workers.enforce_quotas", tenant_id=locked.pk)
    return locked


def withdraw_send(tenant: Tenant, by: Actor, reason: str) -> None:
    """Withdraw the right to send in all spaces of the tenant. Idempotent."""
    for space in queries.list_spaces(tenant):
        restrictions.withdraw_send(space=space, by=by, reason=reason)
