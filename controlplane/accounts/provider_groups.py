"""Gives people who log in through the identity provider the roles that their groups there have.

At each login ``apply`` makes the account agree with the groups that the provider sends. Roles that
somebody gave by hand stay as they are.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import structlog
from django.conf import settings
from django.db import transaction

from controlplane.accounts import organization_identities, provider_identities
from controlplane.accounts.provider_identities import Identity
from controlplane.core import audit
from controlplane.core.audit import Actor
from controlplane.core.errors import WaypostError
from tenants import permissions
from tenants.actions import memberships, staff_accounts
from tenants.models import Membership, Tenant, User

logger = structlog.get_logger(__name__)

# The actor of changes that a login makes.
_BY = Actor("identity-provider")


def read(claims: Mapping[str, Any]) -> frozenset[str]:
    """Return the groups in the claim ``OIDC_GROUPS_CLAIM``; none if it is missing or no list."""
    return provider_identities.read_groups(claims, settings.OIDC_GROUPS_CLAIM)


def read_identity(claims: Mapping[str, Any]) -> Identity:
    """Return the identity that ``claims`` of the installation's provider describe.

    Providers of organizations never say who is staff: their claims are not for this function.
    """
    identity = provider_identities.read_identity(claims)
    group = settings.OIDC_STAFF_GROUP
    # Without the setting nobody is staff, even if the provider sends a group with an empty name.
    return replace(identity, is_staff=bool(group) and group in read(claims))


def apply(user: User, groups: frozenset[str]) -> None:
    """Make staff and memberships of ``user`` agree with ``groups``. Idempotent.

    If the person has left a group, the next login takes away the role that the group gave. If a
    role cannot be given or taken, such as that of the last owner, this is logged and the login goes
    on. The last account of staff that can log in keeps that right, which is logged and audited.
    """
    if settings.OIDC_STAFF_GROUP:
        _set_staff(user, settings.OIDC_STAFF_GROUP in groups)
    if settings.OIDC_GROUP_ROLES:
        _set_roles(user, groups)


def _set_staff(user: User, is_staff: bool) -> None:
    """Make ``user`` one of staff, or end that if another account of staff remains."""
    with transaction.atomic():
        # Most logins are of people who are no staff: these lock nothing.
        is_to_leave = not is_staff and User.objects.filter(pk=user.pk, is_staff=True).exists()
        if is_to_leave and staff_accounts.is_last(user):
            _keep_last(user)
            is_staff = True
        # By a condition: of two logins at once, only the one that changes it writes an event.
        if User.objects.filter(pk=user.pk, is_staff=not is_staff).update(is_staff=is_staff):
            action = "user.become_staff" if is_staff else "user.leave_staff"
            audit.record(_BY, action, audit.Subject("user", str(user.pk), user.email))
    # ``update`` does not change the object with which the caller goes on.
    user.is_staff = is_staff


def _keep_last(user: User) -> None:
    reason = "the groups at the identity provider do not say so"
    audit.record(
        _BY, "user.stay_staff", audit.Subject("user", str(user.pk), user.email), reason=reason
    )
    logger.warning("the last account of staff keeps the right", user=user.pk, reason=reason)


def _set_roles(user: User, groups: frozenset[str]) -> None:
    wanted = _wanted(groups)
    granted = Membership.objects.select_related("tenant").filter(user=user)
    known = {row.tenant.slug: row for row in granted}
    for slug, former in known.items():
        if _is_ours(former) and slug not in wanted:
            _try(memberships.remove, membership=former, by=_BY)
    for slug, (role, group) in sorted(wanted.items()):
        tenant, membership = Tenant.objects.filter(slug=slug).first(), known.get(slug)
        if tenant is None:
            logger.warning("a group of the identity provider names no tenant", tenant=slug)
        elif membership is None and tenant.is_frozen:
            continue  # it takes no members now; a later login gives the role
        elif membership is None:
            _try(
                memberships.add,
                tenant=tenant,
                email=user.email,
                role=role,
                by=_BY,
                from_group=group,
            )
        elif _is_ours(membership) and membership.role != role:
            _try(
                memberships.change_role,
                membership=membership,
                role=role,
                by=_BY,
                from_group=group,
            )


def _is_ours(membership: Membership) -> bool:
    """Return whether a group of the installation's provider gave the role.

    ``from_group`` is empty if a person gave it. It begins with ``MARK`` if the provider of an
    organization gave it.
    """
    group = membership.from_group
    return bool(group) and not group.startswith(organization_identities.MARK)


def _wanted(groups: frozenset[str]) -> dict[str, tuple[str, str]]:
    """Return {slug of a tenant: (role, group)}; of several roles, the one that allows most."""
    found: dict[str, tuple[str, str]] = {}
    # By the number of permissions, because neither developer nor billing includes the other.
    rights = {role: len(allowed) for role, allowed in permissions.ROLES.items()}
    for group, slug, role in settings.OIDC_GROUP_ROLES:
        former = found.get(slug)
        if group in groups and (former is None or rights[role] > rights[former[0]]):
            found[slug] = (role, group)
    return found


def _try(action: Any, **wanted: Any) -> None:
    try:
        action(**wanted)
    except WaypostError as error:
        logger.warning("a role by a group of the identity provider stays", reason=error.message)
