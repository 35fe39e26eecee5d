from typing import Literal, cast

MetricEnum = Literal["age", "depth"]


def check_metric_enum(value: str) -> MetricEnum:
    """Return ``value``; a newer server may know others than these."""
    return cast(MetricEnum, value)
