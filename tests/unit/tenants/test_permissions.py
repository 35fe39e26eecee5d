"""Who may do what, as a table written out once more by hand."""

import pytest

from controlplane.core.errors import Denied
from tenants import permissions
from tenants.models import MessageRequestKind, Role
from tenants.permissions import Permission
from tests.support.source_tree import ROOT

MESSAGING = "manage_messaging manage_addresses manage_messaging_users"
MESSAGES = (
    "read_messages send_messages purge_messages delete_messages move_messages resend_messages"
)
ALLOWED = {
    "owner": f"view {MESSAGING} {MESSAGES} view_billing "
    "manage_billing view_audit manage_team manage_tokens manage_notifications manage_tenant",
    "admin": f"view {MESSAGING} {MESSAGES} view_billing "
    "manage_billing view_audit manage_team manage_tokens manage_notifications",
    "developer": f"view {MESSAGING} {MESSAGES}",
    "billing": "view view_billing manage_billing",
    "viewer": "view",
}


@pytest.mark.parametrize("role", Role.values)
def test_each_role_may_do_what_the_table_says(role: str) -> None:
    able = {permission for permission in Permission if permissions.has_permission(role, permission)}

    assert able == {Permission(name) for name in ALLOWED[role].split()}


def test_each_operation_on_messages_has_a_permission_of_its_own() -> None:
    needed = [permissions.OF_MESSAGES[kind] for kind in MessageRequestKind.values]

    assert len(set(needed)) == len(needed)


def test_the_document_says_what_each_operation_on_messages_needs() -> None:
    lines = (ROOT / "docs/messaging.md").read_text().splitlines()
    for kind, permission in permissions.OF_MESSAGES.items():
        (row,) = [line for line in lines if line.startswith(f"| {kind} |")]
        assert row.split("|")[2].strip() == f"`{permission}`"


def test_an_unknown_role_may_do_nothing() -> None:
    assert not any(permissions.has_permission("king", permission) for permission in Permission)


def test_require_names_the_roles_that_may() -> None:
    permissions.require("billing", Permission.MANAGE_BILLING)

    with pytest.raises(Denied, match="one of these roles: owner, admin, billing") as refusal:
        permissions.require("developer", Permission.MANAGE_BILLING)

    assert refusal.value.fields["permission"] == "manage_billing"


@pytest.mark.parametrize(
    ("role", "given", "may"),
    [
        ("owner", "owner", True),
        ("admin", "admin", True),
        ("admin", "owner", False),
        ("developer", "viewer", True),
        ("developer", "billing", False),
        ("king", "viewer", False),
    ],
)
def test_nobody_gives_more_than_they_have(role: str, given: str, may: bool) -> None:
    if may:
        permissions.require_may_give(role, given)
        return
    with pytest.raises(Denied, match="ask an owner"):
        permissions.require_may_give(role, given)
