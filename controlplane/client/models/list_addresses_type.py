from typing import Literal, cast

ListAddressesType = Literal["anycast", "deadletter", "multicast", "queue", "subscription", "topic"]


def check_list_addresses_type(value: str) -> ListAddressesType:
    """Return ``value``; a newer server may know others than these."""
    return cast(ListAddressesType, value)
