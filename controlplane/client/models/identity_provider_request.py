from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.blank_enum import BlankEnum, check_blank_enum
from ..models.default_role_enum import DefaultRoleEnum, check_default_role_enum
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.identity_provider_request_group_roles import (
        IdentityProviderRequestGroupRoles,
    )


T = TypeVar("T", bound="IdentityProviderRequest")


@_attrs_define
class IdentityProviderRequest:
    """An OpenID provider, with Waypost as its client.

    `client_secret` can be left out of a change: the stored one stays. A new `issuer` needs a new
    one. People log in with email addresses of `domains`. `group_roles` maps groups of the claim
    `groups_claim` to roles; a person in none of these groups gets `default_role`. A person without
    a role cannot log in.

        Attributes:
            issuer (str):
            client_id (str):
            domains (list[str]):
            client_secret (str | Unset):
            default_role (BlankEnum | DefaultRoleEnum | Unset):
            groups_claim (str | Unset):
            group_roles (IdentityProviderRequestGroupRoles | Unset):
    """

    issuer: str
    client_id: str
    domains: list[str]
    client_secret: str | Unset = UNSET
    default_role: BlankEnum | DefaultRoleEnum | Unset = UNSET
    groups_claim: str | Unset = UNSET
    group_roles: IdentityProviderRequestGroupRoles | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        issuer = self.issuer

        client_id = self.client_id

        domains = self.domains

        client_secret = self.client_secret

        default_role: str | Unset
        if isinstance(self.default_role, Unset):
            default_role = UNSET
        elif isinstance(self.default_role, str):
            default_role = self.default_role
        else:
            default_role = self.default_role

        groups_claim = self.groups_claim

        group_roles: dict[str, Any] | Unset = UNSET
        if not isinstance(self.group_roles, Unset):
            group_roles = self.group_roles.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "issuer": issuer,
                "client_id": client_id,
                "domains": domains,
            }
        )
        if client_secret is not UNSET:
            field_dict["client_secret"] = client_secret
        if default_role is not UNSET:
            field_dict["default_role"] = default_role
        if groups_claim is not UNSET:
            field_dict["groups_claim"] = groups_claim
        if group_roles is not UNSET:
            field_dict["group_roles"] = group_roles

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.identity_provider_request_group_roles import (
            IdentityProviderRequestGroupRoles,  # noqa: PLC0415
        )

        d = dict(src_dict)
        issuer = d.pop("issuer")

        client_id = d.pop("client_id")

        domains = cast(list[str], d.pop("domains"))

        client_secret = d.pop("client_secret", UNSET)

        def _parse_default_role(data: object) -> BlankEnum | DefaultRoleEnum | Unset:
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                default_role_type_0 = check_default_role_enum(data)

                return default_role_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            if not isinstance(data, str):
                raise TypeError()
            default_role_type_1 = check_blank_enum(data)

            return default_role_type_1

        default_role = _parse_default_role(d.pop("default_role", UNSET))

        groups_claim = d.pop("groups_claim", UNSET)

        _group_roles = d.pop("group_roles", UNSET)
        group_roles: IdentityProviderRequestGroupRoles | Unset
        if isinstance(_group_roles, Unset):
            group_roles = UNSET
        else:
            group_roles = IdentityProviderRequestGroupRoles.from_dict(_group_roles)

        identity_provider_request = cls(
            issuer=issuer,
            client_id=client_id,
            domains=domains,
            client_secret=client_secret,
            default_role=default_role,
            groups_claim=groups_claim,
            group_roles=group_roles,
        )

        identity_provider_request.additional_properties = d
        return identity_provider_request

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
