"""The permissions of each role in a tenant. API and portal check them before they call an action.

The rights of the operator's staff are separate: no role in a tenant includes any of them.
"""

from collections.abc import Mapping
from enum import StrEnum

from controlplane.core.errors import Denied, Missing
from tenants.models import ApiToken, MessageRequestKind, Role, Tenant, UnpaidStage


class Permission(StrEnum):
    """One permission in a tenant; the role of a member or token includes some of them."""

    VIEW = "view"  # spaces and what is in them, members, usage, operations
    MANAGE_MESSAGING = "manage_messaging"  # spaces, maintenance windows, and the next two
    MANAGE_ADDRESSES = "manage_addresses"  # addresses and their alarms
    MANAGE_MESSAGING_USERS = "manage_messaging_users"
    READ_MESSAGES = "read_messages"  # bodies and properties of stored messages
    SEND_MESSAGES = "send_messages"  # test messages
    PURGE_MESSAGES = "purge_messages"  # delete all messages of an address
    DELETE_MESSAGES = "delete_messages"  # delete selected messages
    MOVE_MESSAGES = "move_messages"  # to another queue of the space
    RESEND_MESSAGES = "resend_messages"  # dead letters, to where they came from
    VIEW_BILLING = "view_billing"  # invoices, prices, spend
    MANAGE_BILLING = "manage_billing"  # billing details, plan, spend cap, coupons, payments
    VIEW_AUDIT = "view_audit"
    MANAGE_TEAM = "manage_team"  # members, their roles, invitations
    MANAGE_TOKENS = "manage_tokens"
    MANAGE_NOTIFICATIONS = "manage_notifications"  # channels, defaults of the tenant, budget
    MANAGE_TENANT = "manage_tenant"  # closure, export, ownership, identity provider, help by staff


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
    Role.DEVELOPER: frozenset(
        {
            _P.VIEW,
            _P.MANAGE_MESSAGING,
            _P.MANAGE_ADDRESSES,
            _P.MANAGE_MESSAGING_USERS,
            *OF_MESSAGES.values(),
        }
    ),
    Role.BILLING: frozenset({_P.VIEW, _P.VIEW_BILLING, _P.MANAGE_BILLING}),
    Role.VIEWER: frozenset({_P.VIEW}),
}


# A token that is limited to the first permission also has the others. A token can be limited to one
# of these alone: who makes messaging users can read and send every message of the space.
_INCLUDED: Mapping[str, frozenset[Permission]] = {
    _P.MANAGE_MESSAGING: frozenset({_P.MANAGE_ADDRESSES, _P.MANAGE_MESSAGING_USERS})
}


# A token that is limited to some permissions or spaces never gets these. With them it could create
# a token, or admit a person, without its limits.
NOT_FOR_LIMITED_TOKENS = frozenset({_P.MANAGE_TEAM, _P.MANAGE_TOKENS, _P.MANAGE_TENANT})


# Permissions for changes that are possible while the tenant is suspended or being closed.
_WHILE_FROZEN = frozenset(
    {_P.VIEW, _P.VIEW_BILLING, _P.MANAGE_BILLING, _P.VIEW_AUDIT, _P.READ_MESSAGES, _P.MANAGE_TENANT}
)


class OutOfScope(Denied):
    """The token's role allows this, and the limits of the token do not."""

    code = "api_token.out_of_scope"


def require_in_scope(token: ApiToken, permission: Permission, space: str | None) -> None:
    """Check that the limits of ``token`` allow ``permission`` on the space named ``space``.

    ``space`` None: the request concerns no single space.

    Raises:
        OutOfScope: the token is limited to other permissions, or it is limited to spaces and
        ``space`` is None, or it is limited and ``permission`` is one of ``NOT_FOR_LIMITED_TOKENS``.
        Missing: the token is limited to other spaces, which must not reveal that this one exists.
    """
    if not _is_within(token, permission):
        raise OutOfScope(
            f"This token lacks the permission {permission}. It is limited to: "
            f"{', '.join(token.permissions) or 'some spaces'}. Create another one for this.",
            permission=str(permission),
        )
    if token.spaces and space is None:
        raise OutOfScope(f"This token is limited to the spaces {', '.join(token.spaces)}.")
    if token.spaces and space not in token.spaces:
        raise Missing(f"There is no address space {space!r} here.", code="address_space.missing")


def is_given(role: str, token: ApiToken | None, permission: Permission) -> bool:
    """Return whether ``role`` includes ``permission``, and so do the limits of ``token``, if any.

    It does not compare spaces: ``require_in_scope`` does.
    """
    return has_permission(role, permission) and (token is None or _is_within(token, permission))


def _is_within(token: ApiToken, permission: Permission) -> bool:
    is_limited = token.spaces or token.permissions
    if token.permissions and not any(
        permission == given or permission in _INCLUDED.get(given, frozenset())
        for given in token.permissions
    ):
        return False
    return not (is_limited and permission in NOT_FOR_LIMITED_TOKENS)


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
            f"Your role ({role}) may not do this: it lacks the permission {permission}. Ask a "
            f"member with one of these roles: {able}.",
            permission=str(permission),
        )


def is_changeable(tenant: Tenant, permission: Permission) -> bool:
    """Return whether a change that needs ``permission`` is possible in the tenant's present state.

    In a tenant that is suspended or being closed, members may still read messages, leave, and do
    what ``MANAGE_BILLING`` allows, such as pay. Owners may also do what ``MANAGE_TENANT`` allows,
    such as close the tenant or undo that.
    """
    return not tenant.is_frozen or permission in _WHILE_FROZEN


def require_changeable(tenant: Tenant, permission: Permission) -> None:
    """Check ``is_changeable``. Call it for requests that change something.

    Do not call it for requests that only take access away, such as the revocation of a token: a
    leaked token must be revoked at once.

    Raises:
        Denied: ``tenant.suspended``, ``tenant.unpaid`` or ``tenant.closing``; the message says what
            to do.
    """
    if is_changeable(tenant, permission):
        return
    if tenant.suspended_at is not None:
        raise Denied(
            f"This organization is suspended: {tenant.suspension_sentence} Ask the operator.",
            code="tenant.suspended",
        )
    if tenant.unpaid_stage == UnpaidStage.SUSPENDED:
        raise Denied(
            "This organization is suspended because invoices are unpaid. Pay them: then it works "
            "again at once.",
            code="tenant.unpaid",
        )
    raise Denied(
        "This organization is being closed. An owner can undo that in its settings.",
        code="tenant.closing",
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
