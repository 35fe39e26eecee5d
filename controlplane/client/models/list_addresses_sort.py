from typing import Literal, cast

ListAddressesSort = Literal[
    "-address", "-created_at", "-phase", "-type", "address", "created_at", "phase", "type"
]


def check_list_addresses_sort(value: str) -> ListAddressesSort:
    """Return ``value``; a newer server may know others than these."""
    return cast(ListAddressesSort, value)
