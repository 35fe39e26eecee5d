from typing import Literal, cast

ListSpacesPhase = Literal["Active", "Configuring", "Failed", "Pending", "Terminating"]


def check_list_spaces_phase(value: str) -> ListSpacesPhase:
    """Return ``value``; a newer server may know others than these."""
    return cast(ListSpacesPhase, value)
