from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.exemption import Exemption
    from ..models.tax_id_check import TaxIdCheck


T = TypeVar("T", bound="TaxDetails")


@_attrs_define
class TaxDetails:
    """Country, tax id and its status, the newest checks, and all certificates of a tenant.

    Attributes:
        country (str):
        tax_id (str):
        tax_id_status (str):
        checks (list[TaxIdCheck]):
        exemptions (list[Exemption]):
    """

    country: str
    tax_id: str
    tax_id_status: str
    checks: list[TaxIdCheck]
    exemptions: list[Exemption]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        country = self.country

        tax_id = self.tax_id

        tax_id_status = self.tax_id_status

        checks = []
        for checks_item_data in self.checks:
            checks_item = checks_item_data.to_dict()
            checks.append(checks_item)

        exemptions = []
        for exemptions_item_data in self.exemptions:
            exemptions_item = exemptions_item_data.to_dict()
            exemptions.append(exemptions_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "country": country,
                "tax_id": tax_id,
                "tax_id_status": tax_id_status,
                "checks": checks,
                "exemptions": exemptions,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.exemption import Exemption  # noqa: PLC0415
        from ..models.tax_id_check import TaxIdCheck  # noqa: PLC0415

        d = dict(src_dict)
        country = d.pop("country")

        tax_id = d.pop("tax_id")

        tax_id_status = d.pop("tax_id_status")

        checks = []
        _checks = d.pop("checks")
        for checks_item_data in _checks:
            checks_item = TaxIdCheck.from_dict(checks_item_data)

            checks.append(checks_item)

        exemptions = []
        _exemptions = d.pop("exemptions")
        for exemptions_item_data in _exemptions:
            exemptions_item = Exemption.from_dict(exemptions_item_data)

            exemptions.append(exemptions_item)

        tax_details = cls(
            country=country,
            tax_id=tax_id,
            tax_id_status=tax_id_status,
            checks=checks,
            exemptions=exemptions,
        )

        tax_details.additional_properties = d
        return tax_details

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
