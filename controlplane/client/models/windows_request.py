from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.window_request import WindowRequest


T = TypeVar("T", bound="WindowsRequest")


@_attrs_define
class WindowsRequest:
    """All maintenance windows of a tenant. An empty list allows restarts at any time.

    Attributes:
        windows (list[WindowRequest]):
    """

    windows: list[WindowRequest]
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
        from ..models.window_request import WindowRequest  # noqa: PLC0415

        d = dict(src_dict)
        windows = []
        _windows = d.pop("windows")
        for windows_item_data in _windows:
            windows_item = WindowRequest.from_dict(windows_item_data)

            windows.append(windows_item)

        windows_request = cls(
            windows=windows,
        )

        windows_request.additional_properties = d
        return windows_request

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
