from typing import Literal, cast

GetUsageOverTimeMeter = Literal[
    "bytes_in",
    "bytes_out",
    "connection_ms",
    "connections_opened",
    "messages_in",
    "messages_out",
    "peak_connections",
    "steps_64k_in",
    "steps_64k_out",
    "stored_byte_ms",
]


def check_get_usage_over_time_meter(value: str) -> GetUsageOverTimeMeter:
    """Return ``value``; a newer server may know others than these."""
    return cast(GetUsageOverTimeMeter, value)
