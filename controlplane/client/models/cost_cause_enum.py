from typing import Literal, cast

CostCauseEnum = Literal["label", "shared", "space", "unlabeled"]


def check_cost_cause_enum(value: str) -> CostCauseEnum:
    """Return ``value``; a newer server may know others than these."""
    return cast(CostCauseEnum, value)
