from typing import Literal, cast

CauseEnum = Literal["label", "shared", "space", "unlabeled"]


def check_cause_enum(value: str) -> CauseEnum:
    """Return ``value``; a newer server may know others than these."""
    return cast(CauseEnum, value)
