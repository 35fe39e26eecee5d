from typing import Literal, cast

CreateOrChangeAddressIfNoneMatch = Literal["*"]


def check_create_or_change_address_if_none_match(value: str) -> CreateOrChangeAddressIfNoneMatch:
    """Return ``value``; a newer server may know others than these."""
    return cast(CreateOrChangeAddressIfNoneMatch, value)
