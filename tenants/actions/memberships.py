"""Add and remove members of a tenant, and change their roles. A tenant always has an owner."""

from django.db import transaction

from controlplane.core import audit
from controlplane.core.audit import Actor
from controlplane.core.errors import Conflict, Invalid, Missing
from plans.quotas.resources import Resource
from tenants import admission
from tenants.models import Membership, Role, Tenant, User


class LastOwner(Conflict):
    """The tenant would be left without an owner."""

    code = "membership.last_owner"


def add(*, tenant: Tenant, email: str, role: str, by: Actor) -> Membership:
    """Make the user with this email, in upper or lower case, a member of the tenant.

    The user must have an account already; nobody is invited by mail.

    Raises:
        Missing: no account has this email. Conflict: the user is a member already.
        Invalid: no such role. QuotaExceeded: the tenant may have no more members. NoPlan: the
        tenant has no plan.
    """
    _check_role(role)
    user = User.objects.filter(email=email.strip().lower()).first()
    if user is None:
        raise Missing(
            f"There is no account for {email[:150]}; ask them to sign up or log in first.",
            code="membership.no_account",
        )
    with transaction.atomic():
        locked = admission.locked_tenant(tenant)
        if Membership.objects.filter(tenant=locked, user=user).exists():
            raise Conflict(f"{user.email} is a member already.", code="membership.exists")
        admission.check(locked, Resource.MEMBERS)
        membership = Membership.objects.create(tenant=locked, user=user, role=role)
        audit.record(by, "membership.add", _subject(membership), after={"role": role})
    return membership


def change_role(*, membership: Membership, role: str, by: Actor) -> Membership:
    """Give the member the role ``role``; return the changed membership.

    Raises:
        Invalid: no such role. LastOwner: the member is the only owner and would not stay one.
        Missing: the person is not a member any more.
    """
    _check_role(role)
    with transaction.atomic():
        # The tenant's lock serializes changes: two owners cannot both give up the role at once.
        admission.locked_tenant(membership.tenant)
        locked = _reread(membership)
        if locked is None:
            raise Missing("This person is not a member any more.", code="membership.missing")
        before = locked.role
        if before == Role.OWNER and role != Role.OWNER:
            _keep_an_owner(locked)
        locked.role = role
        locked.save(update_fields=["role", "updated_at"])
        audit.record(
            by,
            "membership.change_role",
            _subject(locked),
            before={"role": before},
            after={"role": role},
        )
    return locked


def remove(*, membership: Membership, by: Actor) -> None:
    """Delete the membership; the person's account stays. Idempotent.

    Raises:
        LastOwner: the member is the tenant's only owner.
    """
    with transaction.atomic():
        admission.locked_tenant(membership.tenant)
        locked = _reread(membership)
        if locked is None:
            return
        if locked.role == Role.OWNER:
            _keep_an_owner(locked)
        # Recorded before the deletion, because the event names the member's id and email.
        audit.record(by, "membership.remove", _subject(locked), before={"role": locked.role})
        locked.delete()


def _reread(membership: Membership) -> Membership | None:
    return Membership.objects.select_related("tenant", "user").filter(pk=membership.pk).first()


def _check_role(role: str) -> None:
    if role not in Role.values:
        raise Invalid(
            f"There is no role {role[:40]!r}; choose one of: {', '.join(Role.values)}.",
            code="membership.invalid",
            role=[f"One of: {', '.join(Role.values)}."],
        )


def _keep_an_owner(membership: Membership) -> None:
    others = Membership.objects.filter(tenant=membership.tenant, role=Role.OWNER)
    if not others.exclude(pk=membership.pk).exists():
        raise LastOwner("A tenant needs an owner: make another member an owner first.")


def _subject(membership: Membership) -> audit.Subject:
    return audit.Subject(
        "membership", str(membership.user_id), membership.user.email, membership.tenant_id
    )
