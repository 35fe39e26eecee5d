from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="SellerChoiceRequest")


@_attrs_define
class SellerChoiceRequest:
    """The new seller of a tenant, the currency of its invoices, and why.

    Attributes:
        legal_entity (str):
        currency (str):
        reason (str):
    """

    legal_entity: str
    currency: str
    reason: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        legal_entity = self.legal_entity

        currency = self.currency

        reason = self.reason

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "legal_entity": legal_entity,
                "currency": currency,
                "reason": reason,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        legal_entity = d.pop("legal_entity")

        currency = d.pop("currency")

        reason = d.pop("reason")

        seller_choice_request = cls(
            legal_entity=legal_entity,
            currency=currency,
            reason=reason,
        )

        seller_choice_request.additional_properties = d
        return seller_choice_request

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
