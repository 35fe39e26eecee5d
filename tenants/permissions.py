"""The permissions of each role in a tenant. API and portal check them before they call an action.

The rights of the operator's staff are separate: no role in a tenant includes any of them.
"""

from collections.abc import Mapping
from enum import StrEnum

from controlplane.core.errors import Denied
from tenants.models import MessageRequestKind, Role


class Permission(StrEnum):
    """One permission in a tenant; the role of a member or token includes some of them."""

    VIEW = "view"  # spaces, addresses, users, usage, operations
    MANAGE_MESSAGING = "manage_messaging"  # create, change, delete spaces, addresses, users
    READ_MESSAGES = "read_messages"  # bodies and properties of stored messages
    SEND_MESSAGES = "send_messages"  # test messages
    PURGE_MESSAGES = "purge_messages"  # delete all messages of an address
    DELETE_MESSAGES = "delete_messages"  # selected ones
    MOVE_MESSAGES = "move_messages"  # to another queue of the space
    RESEND_MESSAGES = "resend_messages"  # dead letters, to where they came from
    VIEW_BILLING = "view_billing"  # invoices, prices, spend
    MANAGE_BILLING = "manage_billing"  # billing details, plan
    VIEW_AUDIT = "view_audit"
    MANAGE_TEAM = "manage_team"  # members and their roles
    MANAGE_TOKENS = "manage_tokens"
    MANAGE_NOTIFICATIONS = "manage_notifications"  # channels, defaults of the tenant, budget
    MANAGE_TENANT = "manage_tenant"  # settings, deletion


_P = Permission
# What each operation on messages needs.
OF_MESSAGES: Mapping[str, Permission] = {
    MessageRequestKind.BROWSE: _P.READ_MESSAGES,
    MessageRequestKind.SEND: _P.SEND_MESSAGES,
    MessageRequestKind.PURGE: _P.PURGE_MESSAGES,
    MessageRequestKind.DELETE: _P.DELETE_MESSAGES,
    MessageRequestKind.MOVE: _P.MOVE_MESSAGES,
    MessageRequestKind.RESEND: _P.RESEND_MESSAGES,
}
ROLES: Mapping[str, frozenset[Permission]] = {
    Role.OWNER: frozenset(Permission),
    Role.ADMIN: frozenset(Permission) - {_P.MANAGE_TENANT},
    Role.DEVELOPER: frozenset({_P.VIEW, _P.MANAGE_MESSAGING, *OF_MESSAGES.values()}),
    Role.BILLING: frozenset({_P.VIEW, _P.VIEW_BILLING, _P.MANAGE_BILLING}),
    Role.VIEWER: frozenset({_P.VIEW}),
}


def has_permission(role: str, permission: Permission) -> bool:
    """Return whether ``role`` includes ``permission``; an unknown role includes none."""
    # A newer version of Waypost may have stored a role that this one does not know.
    return permission in ROLES.get(role, frozenset())


def require(role: str, permission: Permission) -> None:
    """Check that ``role`` includes ``permission``.

    Raises:
        Denied: the role does not; the message names the roles that do.
    """
    if not has_permission(role, permission):
        able = ", ".join(name for name, allowed in ROLES.items() if permission in allowed)
        raise Denied(
            f"Your role ({role}) may not do this; ask a member with one of these roles: {able}.",
            permission=str(permission),
        )


def require_may_give(role: str, given: str) -> None:
    """Check that a caller with ``role`` may give the role ``given`` to somebody, or take it away.

    Nobody gives or takes permissions that they lack themselves. Callers check this before they
    change a member or issue a token. They do not check it before they revoke a token, because a
    leaked one must be revoked at once.

    Raises:
        Denied: ``given`` includes a permission that ``role`` lacks.
    """
    if ROLES.get(given, frozenset()) - ROLES.get(role, frozenset()):
        raise Denied(
            f"Your role ({role}) may not give or take the role {given}: ask an owner.",
            given=given,
        )
