from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.category_enum import CategoryEnum, check_category_enum
from ..types import UNSET, Unset

T = TypeVar("T", bound="ExemptionCreateRequest")


@_attrs_define
class ExemptionCreateRequest:
    """A certificate of exemption. Invoices print `text` and the certificate's number.

    Attributes:
        certificate (str):
        text (str):
        starts_on (datetime.date):
        category (CategoryEnum | Unset): * `E` - Exempt
            * `Z` - Zero rate
        ends_on (datetime.date | None | Unset):
    """

    certificate: str
    text: str
    starts_on: datetime.date
    category: CategoryEnum | Unset = UNSET
    ends_on: datetime.date | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        certificate = self.certificate

        text = self.text

        starts_on = self.starts_on.isoformat()

        category: str | Unset = UNSET
        if not isinstance(self.category, Unset):
            category = self.category

        ends_on: None | str | Unset
        if isinstance(self.ends_on, Unset):
            ends_on = UNSET
        elif isinstance(self.ends_on, datetime.date):
            ends_on = self.ends_on.isoformat()
        else:
            ends_on = self.ends_on

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "certificate": certificate,
                "text": text,
                "starts_on": starts_on,
            }
        )
        if category is not UNSET:
            field_dict["category"] = category
        if ends_on is not UNSET:
            field_dict["ends_on"] = ends_on

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        certificate = d.pop("certificate")

        text = d.pop("text")

        starts_on = datetime.date.fromisoformat(d.pop("starts_on"))

        _category = d.pop("category", UNSET)
        category: CategoryEnum | Unset
        if isinstance(_category, Unset):
            category = UNSET
        else:
            category = check_category_enum(_category)

        def _parse_ends_on(data: object) -> datetime.date | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                ends_on_type_0 = datetime.date.fromisoformat(data)

                return ends_on_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.date | None | Unset, data)

        ends_on = _parse_ends_on(d.pop("ends_on", UNSET))

        exemption_create_request = cls(
            certificate=certificate,
            text=text,
            starts_on=starts_on,
            category=category,
            ends_on=ends_on,
        )

        exemption_create_request.additional_properties = d
        return exemption_create_request

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
