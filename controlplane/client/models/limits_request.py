from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="LimitsRequest")


@_attrs_define
class LimitsRequest:
    """The limits of an alarm. `clear_below` is 80 % of the threshold when it is absent or 0.

    Attributes:
        threshold (int):
        for_seconds (int | Unset):
        clear_below (int | Unset):
    """

    threshold: int
    for_seconds: int | Unset = UNSET
    clear_below: int | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        threshold = self.threshold

        for_seconds = self.for_seconds

        clear_below = self.clear_below

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "threshold": threshold,
            }
        )
        if for_seconds is not UNSET:
            field_dict["for_seconds"] = for_seconds
        if clear_below is not UNSET:
            field_dict["clear_below"] = clear_below

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        threshold = d.pop("threshold")

        for_seconds = d.pop("for_seconds", UNSET)

        clear_below = d.pop("clear_below", UNSET)

        limits_request = cls(
            threshold=threshold,
            for_seconds=for_seconds,
            clear_below=clear_below,
        )

        limits_request.additional_properties = d
        return limits_request

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
