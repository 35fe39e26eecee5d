from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="LineStep")


@_attrs_define
class LineStep:
    """The part of an invoice line in one day or hour; parts without usage are left out.

    `used_base`, `included_base` and `billed_base` are in base units of the meter. For a package
    price `billed_base` counts packages instead, for a flat price months.

        Attributes:
            starts_at (datetime.datetime):
            ends_at (datetime.datetime):
            used_base (int):
            included_base (int):
            billed_base (int):
    """

    starts_at: datetime.datetime
    ends_at: datetime.datetime
    used_base: int
    included_base: int
    billed_base: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        starts_at = self.starts_at.isoformat()

        ends_at = self.ends_at.isoformat()

        used_base = self.used_base

        included_base = self.included_base

        billed_base = self.billed_base

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "starts_at": starts_at,
                "ends_at": ends_at,
                "used_base": used_base,
                "included_base": included_base,
                "billed_base": billed_base,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        starts_at = datetime.datetime.fromisoformat(d.pop("starts_at"))

        ends_at = datetime.datetime.fromisoformat(d.pop("ends_at"))

        used_base = d.pop("used_base")

        included_base = d.pop("included_base")

        billed_base = d.pop("billed_base")

        line_step = cls(
            starts_at=starts_at,
            ends_at=ends_at,
            used_base=used_base,
            included_base=included_base,
            billed_base=billed_base,
        )

        line_step.additional_properties = d
        return line_step

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
