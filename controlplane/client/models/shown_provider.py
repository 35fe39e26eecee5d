from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.shown_provider_group_roles import ShownProviderGroupRoles


T = TypeVar("T", bound="ShownProvider")


@_attrs_define
class ShownProvider:
    """The provider without its secret.

    Domains that are not in `confirmed_domains` wait for the operator. People with an email address
    of such a domain cannot log in until then, unless they have an account.

        Attributes:
            issuer (str):
            client_id (str):
            domains (list[str]):
            confirmed_domains (list[str]):
            default_role (str):
            groups_claim (str):
            group_roles (ShownProviderGroupRoles):
    """

    issuer: str
    client_id: str
    domains: list[str]
    confirmed_domains: list[str]
    default_role: str
    groups_claim: str
    group_roles: ShownProviderGroupRoles
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        issuer = self.issuer

        client_id = self.client_id

        domains = self.domains

        confirmed_domains = self.confirmed_domains

        default_role = self.default_role

        groups_claim = self.groups_claim

        group_roles = self.group_roles.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "issuer": issuer,
                "client_id": client_id,
                "domains": domains,
                "confirmed_domains": confirmed_domains,
                "default_role": default_role,
                "groups_claim": groups_claim,
                "group_roles": group_roles,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.shown_provider_group_roles import ShownProviderGroupRoles  # noqa: PLC0415

        d = dict(src_dict)
        issuer = d.pop("issuer")

        client_id = d.pop("client_id")

        domains = cast(list[str], d.pop("domains"))

        confirmed_domains = cast(list[str], d.pop("confirmed_domains"))

        default_role = d.pop("default_role")

        groups_claim = d.pop("groups_claim")

        group_roles = ShownProviderGroupRoles.from_dict(d.pop("group_roles"))

        shown_provider = cls(
            issuer=issuer,
            client_id=client_id,
            domains=domains,
            confirmed_domains=confirmed_domains,
            default_role=default_role,
            groups_claim=groups_claim,
            group_roles=group_roles,
        )

        shown_provider.additional_properties = d
        return shown_provider

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
