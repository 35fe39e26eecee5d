from typing import Literal, cast

ListTokensSort = Literal["-created_at", "-name", "created_at", "name"]


def check_list_tokens_sort(value: str) -> ListTokensSort:
    """Return ``value``; a newer server may know others than these."""
    return cast(ListTokensSort, value)
