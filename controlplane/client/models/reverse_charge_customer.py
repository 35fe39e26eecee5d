from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="ReverseChargeCustomer")


@_attrs_define
class ReverseChargeCustomer:
    """What was charged under reverse charge to a VAT id in all months, in minor units.

    Country and name are those of the newest document.

        Attributes:
            legal_entity (str):
            currency (str):
            vat_id (str):
            country (str):
            name (str):
            n_documents (int):
            taxable_minor (int):
    """

    legal_entity: str
    currency: str
    vat_id: str
    country: str
    name: str
    n_documents: int
    taxable_minor: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        legal_entity = self.legal_entity

        currency = self.currency

        vat_id = self.vat_id

        country = self.country

        name = self.name

        n_documents = self.n_documents

        taxable_minor = self.taxable_minor

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "legal_entity": legal_entity,
                "currency": currency,
                "vat_id": vat_id,
                "country": country,
                "name": name,
                "n_documents": n_documents,
                "taxable_minor": taxable_minor,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        legal_entity = d.pop("legal_entity")

        currency = d.pop("currency")

        vat_id = d.pop("vat_id")

        country = d.pop("country")

        name = d.pop("name")

        n_documents = d.pop("n_documents")

        taxable_minor = d.pop("taxable_minor")

        reverse_charge_customer = cls(
            legal_entity=legal_entity,
            currency=currency,
            vat_id=vat_id,
            country=country,
            name=name,
            n_documents=n_documents,
            taxable_minor=taxable_minor,
        )

        reverse_charge_customer.additional_properties = d
        return reverse_charge_customer

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
