from typing import Literal, cast

ListKeptVolumesSort = Literal["-created_at", "-space", "created_at", "space"]


def check_list_kept_volumes_sort(value: str) -> ListKeptVolumesSort:
    """Return ``value``; a newer server may know others than these."""
    return cast(ListKeptVolumesSort, value)
