from typing import Literal, cast

ListReadSamplesSort = Literal["-position", "position"]


def check_list_read_samples_sort(value: str) -> ListReadSamplesSort:
    """Return ``value``; a newer server may know others than these."""
    return cast(ListReadSamplesSort, value)
