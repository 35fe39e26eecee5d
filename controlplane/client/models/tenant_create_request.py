from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="TenantCreateRequest")


@_attrs_define
class TenantCreateRequest:
    """A tenant to create for a person who has an account.

    An empty or absent `plan` chooses the plan with the lowest monthly fee. Without `legal_entity`
    and `currency` the main seller sells to the tenant, in its main currency.

        Attributes:
            organization (str):
            plan (str | Unset):
            legal_entity (str | Unset):
            currency (str | Unset):
    """

    organization: str
    plan: str | Unset = UNSET
    legal_entity: str | Unset = UNSET
    currency: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        organization = self.organization

        plan = self.plan

        legal_entity = self.legal_entity

        currency = self.currency

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "organization": organization,
            }
        )
        if plan is not UNSET:
            field_dict["plan"] = plan
        if legal_entity is not UNSET:
            field_dict["legal_entity"] = legal_entity
        if currency is not UNSET:
            field_dict["currency"] = currency

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        organization = d.pop("organization")

        plan = d.pop("plan", UNSET)

        legal_entity = d.pop("legal_entity", UNSET)

        currency = d.pop("currency", UNSET)

        tenant_create_request = cls(
            organization=organization,
            plan=plan,
            legal_entity=legal_entity,
            currency=currency,
        )

        tenant_create_request.additional_properties = d
        return tenant_create_request

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
