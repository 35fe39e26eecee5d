from typing import Literal, cast

ListInvitationsRole = Literal["admin", "billing", "developer", "owner", "viewer"]


def check_list_invitations_role(value: str) -> ListInvitationsRole:
    """Return ``value``; a newer server may know others than these."""
    return cast(ListInvitationsRole, value)
