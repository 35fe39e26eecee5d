from typing import Literal, cast

AddressType = Literal["anycast", "deadletter", "multicast", "queue", "subscription", "topic"]


def check_address_type(value: str) -> AddressType:
    """Return ``value``; a newer server may know others than these."""
    return cast(AddressType, value)
