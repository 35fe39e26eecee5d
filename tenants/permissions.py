"""Who may do what in a tenant: one table. Every surface asks here.

Staff (the operator) is separate and never implied by a tenant role.
"""

from collections.abc import Mapping
from enum import StrEnum

from controlplane.core.errors import Denied
from tenants.models import Role


class Permission(StrEnum):
    """One thing a role may allow."""

    VIEW = "view"  # spaces, addresses, users, usage, operations
    MANAGE_MESSAGING = "manage_messaging"  # create, change, delete spaces, addresses, users
    VIEW_BILLING = "view_billing"  # invoices, prices, spend
    MANAGE_BILLING = "manage_billing"  # billing details, plan
    VIEW_AUDIT = "view_audit"
    MANAGE_TEAM = "manage_team"  # members and their roles
    MANAGE_TOKENS = "manage_tokens"
    MANAGE_TENANT = "manage_tenant"  # settings, deletion


_P = Permission
ROLES: Mapping[str, frozenset[Permission]] = {
    Role.OWNER: frozenset(Permission),
    Role.ADMIN: frozenset(Permission) - {_P.MANAGE_TENANT},
    Role.DEVELOPER: frozenset({_P.VIEW, _P.MANAGE_MESSAGING}),
    Role.BILLING: frozenset({_P.VIEW, _P.VIEW_BILLING, _P.MANAGE_BILLING}),
    Role.VIEWER: frozenset({_P.VIEW}),
}


def has_permission(role: str, permission: Permission) -> bool:
    """Return whether ``role`` includes ``permission``; an unknown role has none."""
    return permission in ROLES.get(role, frozenset())


def require(role: str, permission: Permission) -> None:
    """Return if the role allows it.

    Raises:
        Denied: it does not; the message names the roles that do.
    """
    if not has_permission(role, permission):
        able = ", ".join(name for name, allowed in ROLES.items() if permission in allowed)
        raise Denied(
            f"Your role ({role}) may not do this; ask somebody with one of these roles: {able}.",
            permission=str(permission),
        )


def require_may_give(role: str, given: str) -> None:
    """Return if somebody with ``role`` may hand out the role ``given``, or take it from a member.

    Nobody gives or takes more than they have themselves; a token may be revoked by all who manage
    tokens, because a leaked one must go at once. Every surface asks before it acts.

    Raises:
        Denied: ``given`` allows something that ``role`` does not.
    """
    if ROLES.get(given, frozenset()) - ROLES.get(role, frozenset()):
        raise Denied(
            f"Your role ({role}) may not give or take the role {given}: ask an owner.",
            given=given,
        )
