from typing import Literal, cast

GetHistoryAddressSpan = Literal["1h", "24h", "30d", "7d"]


def check_get_history_address_span(value: str) -> GetHistoryAddressSpan:
    """Return ``value``; a newer server may know others than these."""
    return cast(GetHistoryAddressSpan, value)
