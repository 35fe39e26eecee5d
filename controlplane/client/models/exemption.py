from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.category_enum import CategoryEnum, check_category_enum

T = TypeVar("T", bound="Exemption")


@_attrs_define
class Exemption:
    """A certificate by which the tenant pays no tax; `category` is E (exempt) or Z (zero rate).

    It counts for services completed from `starts_on` to `ends_on`, both included.

        Attributes:
            id (str):
            category (CategoryEnum): * `E` - Exempt
                * `Z` - Zero rate
            certificate (str):
            text (str):
            starts_on (datetime.date):
            ends_on (datetime.date | None):
    """

    id: str
    category: CategoryEnum
    certificate: str
    text: str
    starts_on: datetime.date
    ends_on: datetime.date | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        category: str = self.category

        certificate = self.certificate

        text = self.text

        starts_on = self.starts_on.isoformat()

        ends_on: None | str
        if isinstance(self.ends_on, datetime.date):
            ends_on = self.ends_on.isoformat()
        else:
            ends_on = self.ends_on

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "category": category,
                "certificate": certificate,
                "text": text,
                "starts_on": starts_on,
                "ends_on": ends_on,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = d.pop("id")

        category = check_category_enum(d.pop("category"))

        certificate = d.pop("certificate")

        text = d.pop("text")

        starts_on = datetime.date.fromisoformat(d.pop("starts_on"))

        def _parse_ends_on(data: object) -> datetime.date | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                ends_on_type_0 = datetime.date.fromisoformat(data)

                return ends_on_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.date | None, data)

        ends_on = _parse_ends_on(d.pop("ends_on"))

        exemption = cls(
            id=id,
            category=category,
            certificate=certificate,
            text=text,
            starts_on=starts_on,
            ends_on=ends_on,
        )

        exemption.additional_properties = d
        return exemption

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
