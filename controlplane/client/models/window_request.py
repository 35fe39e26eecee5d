from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="WindowRequest")


@_attrs_define
class WindowRequest:
    """A weekly window in UTC. Weekday 0 is Monday. The window lasts `minutes`.

    It may end on a later day.

        Attributes:
            weekday (int):
            starts_at (str):
            minutes (int):
    """

    weekday: int
    starts_at: str
    minutes: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        weekday = self.weekday

        starts_at = self.starts_at

        minutes = self.minutes

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "weekday": weekday,
                "starts_at": starts_at,
                "minutes": minutes,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        weekday = d.pop("weekday")

        starts_at = d.pop("starts_at")

        minutes = d.pop("minutes")

        window_request = cls(
            weekday=weekday,
            starts_at=starts_at,
            minutes=minutes,
        )

        window_request.additional_properties = d
        return window_request

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
