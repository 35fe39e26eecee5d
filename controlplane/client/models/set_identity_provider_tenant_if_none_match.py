from typing import Literal, cast

SetIdentityProviderTenantIfNoneMatch = Literal["*"]


def check_set_identity_provider_tenant_if_none_match(
    value: str,
) -> SetIdentityProviderTenantIfNoneMatch:
    """Return ``value``; a newer server may know others than these."""
    return cast(SetIdentityProviderTenantIfNoneMatch, value)
