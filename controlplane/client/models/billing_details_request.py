from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="BillingDetailsRequest")


@_attrs_define
class BillingDetailsRequest:
    """The buyer on invoices. An invoice is held while one of the first four fields is empty.

    Billing months begin at midnight in `billing_time_zone`, an IANA name.

        Attributes:
            billing_name (str):
            billing_email (str):
            billing_address (str):
            billing_country (str): ISO 3166-1 alpha-2.
            tax_id (str | Unset):
            billing_time_zone (str | Unset):
    """

    billing_name: str
    billing_email: str
    billing_address: str
    billing_country: str
    tax_id: str | Unset = UNSET
    billing_time_zone: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        billing_name = self.billing_name

        billing_email: str
        billing_email = self.billing_email

        billing_address = self.billing_address

        billing_country: str
        billing_country = self.billing_country

        tax_id = self.tax_id

        billing_time_zone = self.billing_time_zone

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "billing_name": billing_name,
                "billing_email": billing_email,
                "billing_address": billing_address,
                "billing_country": billing_country,
            }
        )
        if tax_id is not UNSET:
            field_dict["tax_id"] = tax_id
        if billing_time_zone is not UNSET:
            field_dict["billing_time_zone"] = billing_time_zone

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        billing_name = d.pop("billing_name")

        def _parse_billing_email(data: object) -> str:
            return cast(str, data)

        billing_email = _parse_billing_email(d.pop("billing_email"))

        billing_address = d.pop("billing_address")

        def _parse_billing_country(data: object) -> str:
            return cast(str, data)

        billing_country = _parse_billing_country(d.pop("billing_country"))

        tax_id = d.pop("tax_id", UNSET)

        billing_time_zone = d.pop("billing_time_zone", UNSET)

        billing_details_request = cls(
            billing_name=billing_name,
            billing_email=billing_email,
            billing_address=billing_address,
            billing_country=billing_country,
            tax_id=tax_id,
            billing_time_zone=billing_time_zone,
        )

        billing_details_request.additional_properties = d
        return billing_details_request

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
