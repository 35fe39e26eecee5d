"""Add and remove members of a tenant, and change their roles. A tenant always has an owner."""

from django.db import transaction

from controlplane.core import audit
from controlplane.core.audit import Actor
from controlplane.core.errors import Conflict, Denied, Invalid, Missing
from plans.quotas.resources import Resource
from tenants import admission
from tenants.models import Membership, Role, Tenant, TenantIdentity, User


class OtherTenantsPerson(Conflict):
    """The account belongs to the tenant whose identity provider logs it in."""

    code = "membership.belongs_elsewhere"


class LastOwner(Conflict):
    """The tenant would be left without an owner."""

    code = "membership.last_owner"


def add(*, tenant: Tenant, email: str, role: str, by: Actor, from_group: str = "") -> Membership:
    """Make the user with this email, in upper or lower case, a member of the tenant.

    The user must have an account already; ``invitations`` invites people by mail. ``from_group`` is
    the group at the identity provider that gives the role; empty: a person does.

    Raises:
        Missing: no account has this email. Conflict: the user is a member already.
        Invalid: no such role. QuotaExceeded: the tenant may have no more members. NoPlan: the
        tenant has no plan. Denied: ``tenant.suspended`` or ``tenant.closing``.
        OtherTenantsPerson: the identity provider of another tenant logs the user in.
    """
    check_role(role)
    user = User.objects.filter(email=email.strip().lower()).first()
    if user is None:
        raise Missing(
            f"There is no account for {email[:150]}; ask them to sign up or log in first.",
            code="membership.no_account",
        )
    with transaction.atomic():
        locked = admission.locked_tenant(tenant)
        _require_open(locked)
        if Membership.objects.filter(tenant=locked, user=user).exists():
            raise Conflict(f"{user.email} is a member already.", code="membership.exists")
        require_free(user, locked)
        admission.check(locked, Resource.MEMBERS)
        membership = Membership.objects.create(
            tenant=locked, user=user, role=role, from_group=from_group
        )
        audit.record(by, "membership.add", _subject(membership), after={"role": role})
    return membership


def require_free(user: User, tenant: Tenant | None) -> None:
    """Check that ``user`` may become a member of ``tenant`` (None: a new one).

    The provider of a tenant could otherwise log itself in to another tenant as this person.

    Raises:
        OtherTenantsPerson: the identity provider of another tenant logs the user in.
    """
    # Locked, so that nobody connects the account meanwhile.
    locked = User.objects.select_for_update().get(pk=user.pk)
    found = TenantIdentity.objects.filter(user=locked).select_related("provider").first()
    if found is not None and (tenant is None or found.provider.tenant_id != tenant.pk):
        raise OtherTenantsPerson(
            "Your account belongs to the organization through which you log in. Use an account "
            "with another email address for other organizations."
        )


def change_role(
    *, membership: Membership, role: str, by: Actor, from_group: str = ""
) -> Membership:
    """Give the member the role ``role``; return the changed membership.

    ``from_group`` is as for ``add``: no later login changes a role that a person gave.

    Raises:
        Invalid: no such role. LastOwner: the member is the only owner and would not stay one.
        Missing: the person is not a member any more.
    """
    check_role(role)
    with transaction.atomic():
        # The tenant's lock serializes changes: two owners cannot both give up the role at once.
        admission.locked_tenant(membership.tenant)
        locked = _reread(membership)
        if locked is None:
            raise Missing("This person is not a member any more.", code="membership.missing")
        before = locked.role
        if before == Role.OWNER and role != Role.OWNER:
            _keep_an_owner(locked)
        locked.role, locked.from_group = role, from_group
        locked.save(update_fields=["role", "from_group", "updated_at"])
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


def transfer(*, owner: Membership, to: Membership, by: Actor) -> Membership:
    """Make the member ``to`` an owner and the owner ``owner`` an admin; return the new owner's row.

    Raises:
        Conflict: ``owner`` is no owner any more, or both are the same. Missing: ``to`` is not a
        member any more.
    """
    with transaction.atomic():
        admission.locked_tenant(owner.tenant)
        former = _reread(owner)
        if former is None or former.role != Role.OWNER or owner.pk == to.pk:
            raise Conflict("Only an owner can hand over, and to another member.")
        # First: the tenant always has an owner.
        following = change_role(membership=to, role=Role.OWNER, by=by)
        change_role(membership=former, role=Role.ADMIN, by=by)
        audit.record(by, "tenant.transfer_ownership", _subject(following))
    return following


def _reread(membership: Membership) -> Membership | None:
    return Membership.objects.select_related("tenant", "user").filter(pk=membership.pk).first()


def _require_open(tenant: Tenant) -> None:
    """Check that the tenant is not frozen.

    The message does not say why it is, because the person is no member yet.

    Raises:
        Denied: ``tenant.suspended`` or ``tenant.closing``.
    """
    if tenant.is_frozen:
        is_suspended = tenant.erase_at is None
        raise Denied(
            "This organization takes no new members now. Ask the person who invited you.",
            code="tenant.suspended" if is_suspended else "tenant.closing",
        )


def check_role(role: str) -> None:
    """Raise Invalid if there is no such role."""
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
