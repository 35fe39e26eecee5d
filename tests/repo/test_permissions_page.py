"""The docs and the page Team say what the roles may do, as ``tenants.permissions`` does."""

import re

import pytest

from controlplane.console.views import team
from tenants import permissions
from tenants.models import Role
from tests.support import source_tree

ADMINISTER = source_tree.ROOT / "docs" / "administer"
OF_A_DEVELOPER = (
    "spaces",
    "addresses",
    "messaging users",
    "alarms",
    "maintenance windows",
    "messages",
)


def test_the_docs_list_every_permission_with_its_roles() -> None:
    text = (ADMINISTER / "tokens.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| .+ \| ([a-z, ]+) \|$", text, re.M)

    assert {name: roles.split(", ") for name, roles in rows} == {
        permission.value: [role for role, given in permissions.ROLES.items() if permission in given]
        for permission in permissions.Permission
    }


def test_the_docs_name_the_permissions_that_limited_tokens_never_have() -> None:
    text = (ADMINISTER / "tokens.md").read_text().replace("\n", " ")
    never = re.search(r"limited to spaces or permissions never has (.+?)\.", text)

    assert never
    assert set(re.findall(r"`(\w+)`", never[1])) == permissions.NOT_FOR_LIMITED_TOKENS


@pytest.mark.parametrize("noun", OF_A_DEVELOPER)
def test_docs_and_portal_name_what_a_developer_manages(noun: str) -> None:
    row = re.search(r"^\| developer \|.*$", (ADMINISTER / "team.md").read_text(), re.M)

    assert row
    assert noun in row[0]
    assert noun in team.ROLE_WORDS[Role.DEVELOPER].lower()
