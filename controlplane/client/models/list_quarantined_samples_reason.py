from typing import Literal, cast

ListQuarantinedSamplesReason = Literal["date", "fall", "negative", "null", "time"]


def check_list_quarantined_samples_reason(value: str) -> ListQuarantinedSamplesReason:
    """Return ``value``; a newer server may know others than these."""
    return cast(ListQuarantinedSamplesReason, value)
