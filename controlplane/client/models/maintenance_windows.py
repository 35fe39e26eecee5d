from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.window import Window


T = TypeVar("T", bound="Windows")


@_attrs_define
class Windows:
    """All maintenance windows of a tenant. An empty list allows restarts at any time.

    Attributes:
        windows (list[Window]):
    """

    windows: list[Window]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        windows = []
        for windows_item_data in self.windows:
            windows_item = windows_item_data.to_dict()
            windows.append(windows_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "windows": windows,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.window import Window  # noqa: PLC0415

        d = dict(src_dict)
        windows = []
        _windows = d.pop("windows")
        for windows_item_data in _windows:
            windows_item = Window.from_dict(windows_item_data)

            windows.append(windows_item)

        maintenance_windows = cls(
            windows=windows,
        )

        maintenance_windows.additional_properties = d
        return maintenance_windows

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
