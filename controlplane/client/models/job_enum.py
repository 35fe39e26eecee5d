from typing import Literal, cast

JobEnum = Literal["housekeeping", "pipeline"]


def check_job_enum(value: str) -> JobEnum:
    """Return ``value``; a newer server may know others than these."""
    return cast(JobEnum, value)
