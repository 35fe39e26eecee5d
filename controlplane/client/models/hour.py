from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.hour_used import HourUsed


T = TypeVar("T", bound="Hour")


@_attrs_define
class Hour:
    """The evidence of one hour: number and hash of its samples, and its usage by meter.

    Attributes:
        starts_at (datetime.datetime):
        n_samples (int):
        sample_hash (str):
        used (HourUsed):
    """

    starts_at: datetime.datetime
    n_samples: int
    sample_hash: str
    used: HourUsed
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        starts_at = self.starts_at.isoformat()

        n_samples = self.n_samples

        sample_hash = self.sample_hash

        used = self.used.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "starts_at": starts_at,
                "n_samples": n_samples,
                "sample_hash": sample_hash,
                "used": used,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.hour_used import HourUsed  # noqa: PLC0415

        d = dict(src_dict)
        starts_at = datetime.datetime.fromisoformat(d.pop("starts_at"))

        n_samples = d.pop("n_samples")

        sample_hash = d.pop("sample_hash")

        used = HourUsed.from_dict(d.pop("used"))

        hour = cls(
            starts_at=starts_at,
            n_samples=n_samples,
            sample_hash=sample_hash,
            used=used,
        )

        hour.additional_properties = d
        return hour

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
