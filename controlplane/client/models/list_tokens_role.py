from typing import Literal, cast

ListTokensRole = Literal["admin", "billing", "developer", "owner", "viewer"]


def check_list_tokens_role(value: str) -> ListTokensRole:
    """Return ``value``; a newer server may know others than these."""
    return cast(ListTokensRole, value)
