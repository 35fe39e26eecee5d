from typing import Literal, cast

ListAddressPlansAddressType = Literal[
    "anycast", "deadletter", "multicast", "queue", "subscription", "topic"
]


def check_list_address_plans_address_type(value: str) -> ListAddressPlansAddressType:
    """Return ``value``; a newer server may know others than these."""
    return cast(ListAddressPlansAddressType, value)
