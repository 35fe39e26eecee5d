"""Invite people to a tenant by mail, and accept an invitation.

The link of an invitation holds a secret, which is not stored. A person who has the secret reads the
mail of the invited email address, so accepting confirms that address.
"""

from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from controlplane.core import audit, ids
from controlplane.core.audit import Actor
from controlplane.core.errors import Conflict, Denied, Missing
from plans.quotas.resources import Resource
from tenants import account_rules, admission, queries
from tenants.actions import account_access, memberships, tenants
from tenants.models import Invitation, Membership, Tenant, User
from tenants.notifications import outbox

LIFETIME = timedelta(days=7)  # then an invitation cannot be accepted any more


class OtherAddress(Denied):
    """The invitation is for another email address than that of the logged-in person."""

    code = "invitation.other_address"


def invite(*, tenant: Tenant, email: str, role: str, by: Actor) -> Invitation:
    """Invite ``email`` to the tenant with ``role``, by mail; return the invitation.

    Whether an account has this email makes no difference.

    Raises:
        Invalid: there is no such role, or ``email`` is no email address. Conflict: a member has
        this email, or it is invited already. QuotaExceeded: the tenant may have no more members.
        NoPlan: the tenant has no plan.
    """
    memberships.check_role(role)
    address = account_rules.legal_email(email)
    clear = ids.invitation_token()
    with transaction.atomic():
        locked = admission.locked_tenant(tenant)
        if Membership.objects.filter(tenant=locked, user__email=address).exists():
            raise Conflict(f"{address} is a member already.", code="membership.exists")
        if queries.list_invitations(locked).filter(email=address).exists():
            raise Conflict(
                f"{address} is invited already: send the invitation again.",
                code="invitation.exists",
            )
        admission.check(locked, Resource.MEMBERS)
        invitation = Invitation.objects.create(
            tenant=locked,
            email=address,
            role=role,
            token_hash=ids.token_hash(clear),
            invited_by=by.name,
            expires_at=timezone.now() + LIFETIME,
        )
        audit.record(by, "invitation.send", _subject(invitation), after={"role": role})
        _write_mail(invitation, clear, by)
    return invitation


def renew(*, invitation: Invitation, by: Actor) -> Invitation:
    """Give the invitation a new link and seven more days, by mail; return it.

    The former link does not work any more.

    Raises:
        Missing: the invitation is accepted or revoked.
    """
    clear = ids.invitation_token()
    with transaction.atomic():
        admission.locked_tenant(invitation.tenant)
        renewed = queries.get_invitation(invitation.tenant, invitation.pk)
        renewed.token_hash = ids.token_hash(clear)
        renewed.expires_at = timezone.now() + LIFETIME
        renewed.save(update_fields=["token_hash", "expires_at", "updated_at"])
        audit.record(by, "invitation.send_again", _subject(renewed))
        _write_mail(renewed, clear, by)
    return renewed


def revoke(*, invitation: Invitation, by: Actor) -> None:
    """Make the invitation's link useless. Idempotent; an accepted invitation stays accepted."""
    with transaction.atomic():
        pending = queries.list_invitations(invitation.tenant).filter(pk=invitation.pk)
        # A second revocation finds nothing pending, and writes no second audit event.
        if pending.update(revoked_at=timezone.now()):
            audit.record(by, "invitation.revoke", _subject(invitation))


def find(clear: str) -> Invitation:
    """Return the invitation with the secret ``clear``, with its tenant loaded.

    Raises:
        Missing: there is none, or it is accepted, revoked or expired; nobody learns which.
    """
    found = (
        Invitation.objects.select_related("tenant")
        .filter(token_hash=ids.token_hash(clear), expires_at__gt=timezone.now())
        .filter(accepted_at__isnull=True, revoked_at__isnull=True)
        .first()
    )
    if found is None:
        raise Missing(
            "This invitation is used already, too old or revoked: ask for a new one.",
            code="invitation.missing",
        )
    return found


def accept(*, clear: str, user: User, by: Actor, session_key: str = "") -> Membership:
    """Make ``user`` a member by the invitation with the secret ``clear``; confirm their address.

    If the address was not confirmed before, second factors of the account are deleted and its
    sessions end, but for the one with ``session_key``: somebody else may have added them.

    Raises:
        Missing: see ``find``. OtherAddress: the invitation is not for the user's address. NoPlan,
        OtherTenantsPerson: as ``memberships.add``.
        Conflict: the user is a member already. QuotaExceeded: the tenant may have no more members.
        Denied: the tenant is suspended or being closed.
    """
    with transaction.atomic():
        tenant = find(clear).tenant  # first, only to know which row to lock
        admission.locked_tenant(tenant)
        invitation = find(clear)  # again, under the lock: it can be accepted once
        if user.email.lower() != invitation.email:
            raise OtherAddress(
                f"This invitation is for {invitation.email}. Log out, and log in or sign up with "
                "this address."
            )
        invitation.accepted_at = timezone.now()
        invitation.save(update_fields=["accepted_at", "updated_at"])
        account_access.prove_email(user=user, by=by, session_key=session_key)
        return memberships.add(tenant=tenant, email=user.email, role=invitation.role, by=by)


def accept_as_new(*, clear: str, password: str) -> Membership:
    """Create an account for the invited address, and accept the invitation, in one transaction.

    Sign-up may be switched off: the tenant vouches for the person.

    Raises:
        Missing: see ``find``. EmailTaken: the address has an account: log in, then accept.
        Invalid: the password is refused. QuotaExceeded: the tenant may have no more members.
        Denied: the tenant is suspended or being closed.
    """
    with transaction.atomic():
        invitation = find(clear)
        user = tenants.create_user(invitation.email, password, is_confirmed=True)
        by = Actor(f"user:{user.email}")
        audit.record(by, "user.create", audit.Subject("user", str(user.pk), user.email))
        return accept(clear=clear, user=user, by=by)


def _write_mail(invitation: Invitation, clear: str, by: Actor) -> None:
    """Write the mail with the link to the outbox, in the transaction of the invitation."""
    person = by.name.removeprefix("user:")
    outbox.write_to_address(
        "team.invitation",
        tenant=invitation.tenant,
        email=invitation.email,
        # A renewed invitation has another link, and is another event.
        key=f"{invitation.pk}:{invitation.token_hash[:16]}",
        fields={
            # Names of other actors, such as tokens, mean nothing to the person.
            "invited_by": person if person != by.name else invitation.tenant.name,
            "role": invitation.get_role_display().lower(),
            "expires_on": f"{invitation.expires_at:%Y-%m-%d %H:%M} UTC",
            "link": f"/invitations/{clear}",
        },
    )


def _subject(invitation: Invitation) -> audit.Subject:
    return audit.Subject("invitation", str(invitation.pk), invitation.email, invitation.tenant_id)
