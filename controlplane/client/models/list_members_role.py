from typing import Literal, cast

ListMembersRole = Literal["admin", "billing", "developer", "owner", "viewer"]


def check_list_members_role(value: str) -> ListMembersRole:
    """Return ``value``; a newer server may know others than these."""
    return cast(ListMembersRole, value)
