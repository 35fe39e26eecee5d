from typing import Literal, cast

ListConnectionsSort = Literal["-instance", "-links", "-user", "instance", "links", "user"]


def check_list_connections_sort(value: str) -> ListConnectionsSort:
    """Return ``value``; a newer server may know others than these."""
    return cast(ListConnectionsSort, value)
