from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="CurrencyTotal")


@_attrs_define
class CurrencyTotal:
    """The sums of the drafts and issued invoices of a run in one currency, in minor units.

    Attributes:
        currency (str):
        invoices (int):
        net_minor (int):
        tax_minor (int):
        total_minor (int):
    """

    currency: str
    invoices: int
    net_minor: int
    tax_minor: int
    total_minor: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        currency = self.currency

        invoices = self.invoices

        net_minor = self.net_minor

        tax_minor = self.tax_minor

        total_minor = self.total_minor

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "currency": currency,
                "invoices": invoices,
                "net_minor": net_minor,
                "tax_minor": tax_minor,
                "total_minor": total_minor,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        currency = d.pop("currency")

        invoices = d.pop("invoices")

        net_minor = d.pop("net_minor")

        tax_minor = d.pop("tax_minor")

        total_minor = d.pop("total_minor")

        currency_total = cls(
            currency=currency,
            invoices=invoices,
            net_minor=net_minor,
            tax_minor=tax_minor,
            total_minor=total_minor,
        )

        currency_total.additional_properties = d
        return currency_total

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
