from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Balance")


@_attrs_define
class Balance:
    """Credit with one legal entity in one currency; amounts are in minor units.

    `available_minor` is everything that could pay an invoice now. `invoices_minor` of it comes from
    invoices and credit notes and never expires.

        Attributes:
            legal_entity (str):
            currency (str):
            invoices_minor (int):
            prepaid_minor (int):
            promotional_minor (int):
            available_minor (int):
    """

    legal_entity: str
    currency: str
    invoices_minor: int
    prepaid_minor: int
    promotional_minor: int
    available_minor: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        legal_entity = self.legal_entity

        currency = self.currency

        invoices_minor = self.invoices_minor

        prepaid_minor = self.prepaid_minor

        promotional_minor = self.promotional_minor

        available_minor = self.available_minor

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "legal_entity": legal_entity,
                "currency": currency,
                "invoices_minor": invoices_minor,
                "prepaid_minor": prepaid_minor,
                "promotional_minor": promotional_minor,
                "available_minor": available_minor,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        legal_entity = d.pop("legal_entity")

        currency = d.pop("currency")

        invoices_minor = d.pop("invoices_minor")

        prepaid_minor = d.pop("prepaid_minor")

        promotional_minor = d.pop("promotional_minor")

        available_minor = d.pop("available_minor")

        balance = cls(
            legal_entity=legal_entity,
            currency=currency,
            invoices_minor=invoices_minor,
            prepaid_minor=prepaid_minor,
            promotional_minor=promotional_minor,
            available_minor=available_minor,
        )

        balance.additional_properties = d
        return balance

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
