from typing import Literal, cast

ResourceEnum = Literal[
    "address_hours_per_month",
    "addresses",
    "api_tokens",
    "brokers",
    "bytes_in_per_month",
    "bytes_out_per_month",
    "bytes_per_month",
    "connection_ms_per_month",
    "connections_opened_per_month",
    "members",
    "messages_in_per_month",
    "messages_out_per_month",
    "messages_per_month",
    "peak_connections_per_month",
    "space_hours_per_month",
    "spaces",
    "steps_64k_in_per_month",
    "steps_64k_out_per_month",
    "steps_64k_per_month",
    "stored_byte_ms_per_month",
    "users",
]


def check_resource_enum(value: str) -> ResourceEnum:
    """Return ``value``; a newer server may know others than these."""
    return cast(ResourceEnum, value)
