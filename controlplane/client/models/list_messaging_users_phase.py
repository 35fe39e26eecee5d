from typing import Literal, cast

ListMessagingUsersPhase = Literal["Active", "Configuring", "Failed", "Pending", "Terminating"]


def check_list_messaging_users_phase(value: str) -> ListMessagingUsersPhase:
    """Return ``value``; a newer server may know others than these."""
    return cast(ListMessagingUsersPhase, value)
