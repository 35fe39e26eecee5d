from typing import Literal, cast

ListInvitationsSort = Literal["-created_at", "-email", "created_at", "email"]


def check_list_invitations_sort(value: str) -> ListInvitationsSort:
    """Return ``value``; a newer server may know others than these."""
    return cast(ListInvitationsSort, value)
