from typing import Literal, cast

IdentityProviderRequestGroupRolesAdditionalProperty = Literal[
    "admin", "billing", "developer", "viewer"
]


def check_identity_provider_request_group_roles_additional_property(
    value: str,
) -> IdentityProviderRequestGroupRolesAdditionalProperty:
    """Return ``value``; a newer server may know others than these."""
    return cast(IdentityProviderRequestGroupRolesAdditionalProperty, value)
