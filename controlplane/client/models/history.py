from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.address_point import AddressPoint


T = TypeVar("T", bound="History")


@_attrs_define
class History:
    """The history of an address: one point for each step, oldest first.

    Attributes:
        step_seconds (int):
        points (list[AddressPoint]):
    """

    step_seconds: int
    points: list[AddressPoint]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        step_seconds = self.step_seconds

        points = []
        for points_item_data in self.points:
            points_item = points_item_data.to_dict()
            points.append(points_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "step_seconds": step_seconds,
                "points": points,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.address_point import AddressPoint  # noqa: PLC0415

        d = dict(src_dict)
        step_seconds = d.pop("step_seconds")

        points = []
        _points = d.pop("points")
        for points_item_data in _points:
            points_item = AddressPoint.from_dict(points_item_data)

            points.append(points_item)

        history = cls(
            step_seconds=step_seconds,
            points=points,
        )

        history.additional_properties = d
        return history

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
