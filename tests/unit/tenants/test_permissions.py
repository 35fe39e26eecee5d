"""Who may do what, as a table written out once more by hand."""

import pytest

from controlplane.core.errors import Denied
from tenants import permissions
from tenants.models import Role
from tenants.permissions import Permission

ALLOWED = {
    "owner": "view manage_messaging read_messages change_messages view_billing "
    "manage_billing view_audit manage_team manage_tokens manage_tenant",
    "admin": "view manage_messaging read_messages change_messages view_billing "
    "manage_billing view_audit manage_team manage_tokens",
    "developer": "view manage_messaging read_messages change_messages",
    "billing": "view view_billing manage_billing",
    "viewer": "view",
}


@pytest.mark.parametrize("role", Role.values)
def test_each_role_may_do_what_the_table_says(role: str) -> None:
    able = {permission for permission in Permission if permissions.has_permission(role, permission)}

    assert able == {Permission(name) for name in ALLOWED[role].split()}


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
