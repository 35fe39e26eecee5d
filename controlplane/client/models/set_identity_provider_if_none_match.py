from typing import Literal, cast

SetIdentityProviderIfNoneMatch = Literal["*"]


def check_set_identity_provider_if_none_match(value: str) -> SetIdentityProviderIfNoneMatch:
    """Return ``value``; a newer server may know others than these."""
    return cast(SetIdentityProviderIfNoneMatch, value)
