from typing import Literal, cast

MeterEnum = Literal[
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


def check_meter_enum(value: str) -> MeterEnum:
    """Return ``value``; a newer server may know others than these."""
    return cast(MeterEnum, value)
