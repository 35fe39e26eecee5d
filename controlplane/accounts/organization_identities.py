"""Which account a person has who logs in through the identity provider of an organization.

The organization chooses its provider, so Waypost believes the provider only about the people of
this organization. The first line that fits counts:

    known issuer#sub at this provider            -> its user
    email missing, not verified, not valid or of
    another domain than those of the provider    -> refused
    domain that the operator has confirmed, and
    no account with this email                   -> a new user
    anything else                                -> proof is needed: the person must log in to the
                                                    account with this email, then connect it

A user who logs in through the provider must not be staff, and must be a member of no other
organization. Each request of the session checks this again (``is_open``). The result reveals
whether the email has an account only in domains that the operator has confirmed to be the
organization's.
"""

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction

from controlplane.accounts import provider_identities
from controlplane.accounts.provider_identities import Identity, LoginRefused
from controlplane.core import audit
from controlplane.core.errors import WaypostError
from tenants import permissions
from tenants.actions import memberships
from tenants.models import IdentityProvider, Membership, Role, TenantIdentity, User

# The name in a session of a login that waits for proof of the account.
PENDING = "organization_login"
_PENDING_SECONDS = 900  # from the provider's answer to the proof of the account
# Marks memberships that a login through an organization's provider made.
MARK = "organization:"
_BY = audit.Actor("identity-provider")


@dataclass(frozen=True)
class Pending:
    """A login that waits for proof of the account with ``email``; JSON types, for a session."""

    provider: int
    subject: str
    email: str
    groups: list[str]
    at: float


class ProofNeeded(LoginRefused):
    """The person must first prove that an account is theirs; ``pending`` is the login that waits.

    The proof is a login to that account with its own password or single sign-on.
    """

    def __init__(self, pending: Pending) -> None:
        super().__init__(
            "Log in once with the account that you have here for this email address. Then you can "
            "connect it with your organization's login."
        )
        self.pending = pending


def sign_in(row: IdentityProvider, claims: Mapping[str, Any]) -> User:
    """Return the user that ``claims`` of the provider ``row`` describe; make the user a member.

    Raises:
        LoginRefused: see the top of this module; or the organization has no role for the person, or
            cannot take a member. ProofNeeded (a LoginRefused): the person must prove the account.
    """
    identity = provider_identities.read_identity(claims)
    groups = provider_identities.read_groups(claims, row.groups_claim)
    known = (
        TenantIdentity.objects.select_related("user")
        .filter(provider=row, subject=identity.subject)
        .first()
    )
    with transaction.atomic():
        # In the transaction, because a refusal below must leave no new account behind.
        user = known.user if known else _created(row, identity, groups)
        _require_only_here(row, user)
        _give_role(row, user, groups)
    return user


def connect(row: IdentityProvider, user: User, pending: Pending) -> None:
    """Connect the account of ``user``, who has proved it, with the login that waits. Idempotent.

    Raises:
        LoginRefused: the login is too old or for another account; the person is staff or a member
            of another organization; the person is no member, and the operator has not confirmed
            the domain; the organization has no role for the person; or the account or the login is
            connected already (``login.connected_elsewhere``).
    """
    # The organization may have another issuer by now, whose subjects are other people.
    if time.time() - pending.at > _PENDING_SECONDS or not is_of(row, pending.subject):
        raise LoginRefused("This login is too old. Begin again on the login page.")
    if user.email.lower() != pending.email:
        raise LoginRefused(
            f"Your organization's login has the address {pending.email}, and this account has "
            "another one. Log in with the account of that address."
        )
    with transaction.atomic():
        is_member = Membership.objects.filter(tenant=row.tenant, user=user).exists()
        if not is_member and not _is_confirmed(row, pending.email):
            raise LoginRefused("You are no member of this organization. Ask it for an invitation.")
        _require_only_here(row, user)
        _require_free(row, user, pending.subject)
        # After ``_require_free`` these are former subjects at this provider.
        TenantIdentity.objects.filter(user=user).exclude(subject=pending.subject).delete()
        TenantIdentity.objects.get_or_create(user=user, provider=row, subject=pending.subject)
        _give_role(row, user, frozenset(pending.groups))
        _record("user.link_identity", user, pending.subject)


def is_open(user: User) -> bool:
    """Return whether a session that an organization's provider began may go on.

    It may if the feature is on and ``user`` still has an identity of the provider, is not staff,
    and is a member of no other organization.
    """
    if not settings.ORGANIZATION_LOGIN_ENABLED:
        return False
    identity = TenantIdentity.objects.select_related("provider").filter(user=user).first()
    if identity is None or user.is_staff or user.is_superuser:
        return False
    elsewhere = Membership.objects.filter(user=user).exclude(tenant=identity.provider.tenant_id)
    return not elsewhere.exists()


def read_pending(value: Any) -> Pending | None:
    """Return the login that ``value`` of a session describes; None if the session stores none."""
    return Pending(**value) if isinstance(value, dict) else None


def store(pending: Pending) -> dict[str, Any]:
    """Return ``pending`` as a dict of JSON types, for a session."""
    return asdict(pending)


def is_of(row: IdentityProvider, subject: str) -> bool:
    """Return whether ``subject`` is one of the provider's present issuer."""
    return subject.startswith(f"{row.issuer}#")


def _created(row: IdentityProvider, identity: Identity, groups: frozenset[str]) -> User:
    """Return a new user for ``identity``.

    Raises:
        LoginRefused: the email is missing, not verified or not valid, or not in a domain of the
            provider. ProofNeeded: an account has the email, or the domain is not confirmed.
    """
    domain = identity.email.rpartition("@")[2]
    if not (identity.email and identity.email_verified):
        raise LoginRefused(
            "Your identity provider has not verified your email address. Verify it there, then "
            "log in again."
        )
    if not _is_address(identity.email):
        raise LoginRefused(
            "Your identity provider names no usable email address. Correct it there, then log in "
            "again."
        )
    if not row.domains.filter(name=domain).exists():
        raise LoginRefused("Your email address is in none of your organization's domains.")
    has_account = User.objects.filter(email__iexact=identity.email).exists()
    if has_account or not _is_confirmed(row, identity.email):
        raise ProofNeeded(
            Pending(row.pk, identity.subject, identity.email, sorted(groups), time.time())
        )
    user = User.objects.create_user(
        username=identity.email,
        email=identity.email,
        first_name=identity.first_name,
        last_name=identity.last_name,
    )
    TenantIdentity.objects.create(provider=row, user=user, subject=identity.subject)
    _record("user.create", user, identity.subject)
    return user


def _is_address(email: str) -> bool:
    """Return whether ``email`` is one address, and short enough to be stored."""
    # The email address is the user name too, whose column is shorter.
    longest = User._meta.get_field("username").max_length
    try:
        validate_email(email)
    except ValidationError:
        return False
    return longest is None or len(email) <= longest


def _is_confirmed(row: IdentityProvider, email: str) -> bool:
    domain = email.rpartition("@")[2]
    return row.domains.filter(name=domain, confirmed_at__isnull=False).exists()


def _require_only_here(row: IdentityProvider, user: User) -> None:
    """Check that the provider may log ``user`` in.

    Raises:
        LoginRefused: the user is staff, or a member of another organization.
    """
    # Locked as in ``memberships.require_free``: nobody adds the account elsewhere meanwhile.
    locked = User.objects.select_for_update().get(pk=user.pk)
    elsewhere = Membership.objects.filter(user=locked).exclude(tenant=row.tenant_id)
    if locked.is_staff or locked.is_superuser or elsewhere.exists():
        raise LoginRefused(
            "This account also belongs elsewhere, so your organization cannot log it in. Log in "
            "with the account's own password or single sign-on."
        )


def _require_free(row: IdentityProvider, user: User, subject: str) -> None:
    """Check that neither the account nor the login is connected with another one.

    Raises:
        LoginRefused: ``login.connected_elsewhere``: one is.
    """
    of_account = TenantIdentity.objects.filter(user=user).exclude(provider=row)
    of_login = TenantIdentity.objects.filter(provider=row, subject=subject).exclude(user=user)
    if of_account.exists() or of_login.exists():
        raise LoginRefused(
            "This account is connected with the login of another organization, or this login with "
            "another account. Use an account with another email address.",
            code="login.connected_elsewhere",
        )


def _give_role(row: IdentityProvider, user: User, groups: frozenset[str]) -> None:
    """Make ``user`` a member with the role of ``groups``; a role that a person gave stays.

    Raises:
        LoginRefused: neither ``groups`` nor the provider's default gives the person a role, or the
            organization takes no members now.
    """
    found = [
        (len(permissions.ROLES[role]), role, group)
        for group, role in row.group_roles.items()
        if group in groups
    ]
    # Of several groups, the role with the most permissions counts.
    _, role, group = max(found, default=(0, row.default_role, ""))
    membership = Membership.objects.filter(tenant=row.tenant, user=user).first()
    if membership is not None and not membership.from_group.startswith(MARK):
        return
    if membership is not None and membership.role == Role.OWNER:
        return  # no provider makes owners, so a person did
    if not role:
        raise LoginRefused("Your organization has no role for you. Ask its owner.")
    try:
        if membership is None:
            memberships.add(
                tenant=row.tenant, email=user.email, role=role, by=_BY, from_group=f"{MARK}{group}"
            )
        elif membership.role != role:
            memberships.change_role(
                membership=membership, role=role, by=_BY, from_group=f"{MARK}{group}"
            )
    except WaypostError as error:
        # Such as a used-up quota of members: the login page shows why.
        raise LoginRefused(error.message) from None


def _record(action: str, user: User, subject: str) -> None:
    audit.record(
        audit.Actor(f"user:{user.email}"),
        action,
        audit.Subject("user", str(user.pk), user.email),
        after={"identity": subject},
    )
