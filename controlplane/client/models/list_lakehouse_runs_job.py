from typing import Literal, cast

ListLakehouseRunsJob = Literal["housekeeping", "pipeline"]


def check_list_lakehouse_runs_job(value: str) -> ListLakehouseRunsJob:
    """Return ``value``; a newer server may know others than these."""
    return cast(ListLakehouseRunsJob, value)
