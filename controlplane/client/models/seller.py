from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Seller")


@_attrs_define
class Seller:
    """A selling legal entity; the first of `currencies` is its main one.

    Attributes:
        legal_entity (str):
        name (str):
        country (str):
        currencies (list[str]):
    """

    legal_entity: str
    name: str
    country: str
    currencies: list[str]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        legal_entity = self.legal_entity

        name = self.name

        country = self.country

        currencies = self.currencies

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "legal_entity": legal_entity,
                "name": name,
                "country": country,
                "currencies": currencies,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        legal_entity = d.pop("legal_entity")

        name = d.pop("name")

        country = d.pop("country")

        currencies = cast(list[str], d.pop("currencies"))

        seller = cls(
            legal_entity=legal_entity,
            name=name,
            country=country,
            currencies=currencies,
        )

        seller.additional_properties = d
        return seller

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
