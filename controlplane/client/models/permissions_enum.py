from typing import Literal, cast

PermissionsEnum = Literal[
    "delete_messages",
    "manage_addresses",
    "manage_billing",
    "manage_messaging",
    "manage_messaging_users",
    "manage_notifications",
    "manage_team",
    "manage_tenant",
    "manage_tokens",
    "move_messages",
    "purge_messages",
    "read_messages",
    "resend_messages",
    "send_messages",
    "view",
    "view_audit",
    "view_billing",
]


def check_permissions_enum(value: str) -> PermissionsEnum:
    """Return ``value``; a newer server may know others than these."""
    return cast(PermissionsEnum, value)
