from typing import Literal, cast

GetUsageOverTimeMeter = Literal[
    "connection_ms",
    "connections_opened",
    "messages_in",
    "messages_out",
    "peak_connections",
    "stored_byte_ms",
]


def check_get_usage_over_time_meter(value: str) -> GetUsageOverTimeMeter:
    """Return ``value``; a newer server may know others than these."""
    return cast(GetUsageOverTimeMeter, value)
