from typing import Literal, cast

ListAddressesPhase = Literal["Active", "Configuring", "Failed", "Pending", "Terminating"]


def check_list_addresses_phase(value: str) -> ListAddressesPhase:
    """Return ``value``; a newer server may know others than these."""
    return cast(ListAddressesPhase, value)
