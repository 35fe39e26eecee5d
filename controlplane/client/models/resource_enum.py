from typing import Literal, cast

ResourceEnum = Literal[
    "addresses", "api_tokens", "brokers", "members", "messages_per_month", "spaces", "users"
]


def check_resource_enum(value: str) -> ResourceEnum:
    """Return ``value``; a newer server may know others than these."""
    return cast(ResourceEnum, value)
