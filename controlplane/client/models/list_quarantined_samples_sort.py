from typing import Literal, cast

ListQuarantinedSamplesSort = Literal["-copied_at", "copied_at"]


def check_list_quarantined_samples_sort(value: str) -> ListQuarantinedSamplesSort:
    """Return ``value``; a newer server may know others than these."""
    return cast(ListQuarantinedSamplesSort, value)
