from typing import Literal, cast

ListLakehouseRunsSort = Literal["-cpu_seconds", "-started_at", "cpu_seconds", "started_at"]


def check_list_lakehouse_runs_sort(value: str) -> ListLakehouseRunsSort:
    """Return ``value``; a newer server may know others than these."""
    return cast(ListLakehouseRunsSort, value)
