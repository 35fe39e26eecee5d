from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="TaxIdCheck")


@_attrs_define
class TaxIdCheck:
    """One check of the tax id: of its form alone or, if `is_confirmed`, by asking the register.

    Attributes:
        tax_id (str):
        country (str):
        status (str):
        checked_at (datetime.datetime):
        is_confirmed (bool): Return whether staff asked the register.
        reference (str):
    """

    tax_id: str
    country: str
    status: str
    checked_at: datetime.datetime
    is_confirmed: bool
    reference: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        tax_id = self.tax_id

        country = self.country

        status = self.status

        checked_at = self.checked_at.isoformat()

        is_confirmed = self.is_confirmed

        reference = self.reference

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "tax_id": tax_id,
                "country": country,
                "status": status,
                "checked_at": checked_at,
                "is_confirmed": is_confirmed,
                "reference": reference,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        tax_id = d.pop("tax_id")

        country = d.pop("country")

        status = d.pop("status")

        checked_at = datetime.datetime.fromisoformat(d.pop("checked_at"))

        is_confirmed = d.pop("is_confirmed")

        reference = d.pop("reference")

        tax_id_check = cls(
            tax_id=tax_id,
            country=country,
            status=status,
            checked_at=checked_at,
            is_confirmed=is_confirmed,
            reference=reference,
        )

        tax_id_check.additional_properties = d
        return tax_id_check

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
