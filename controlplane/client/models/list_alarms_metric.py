from typing import Literal, cast

ListAlarmsMetric = Literal["age", "depth"]


def check_list_alarms_metric(value: str) -> ListAlarmsMetric:
    """Return ``value``; a newer server may know others than these."""
    return cast(ListAlarmsMetric, value)
