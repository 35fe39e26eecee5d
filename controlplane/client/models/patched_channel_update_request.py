from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="PatchedChannelUpdateRequest")


@_attrs_define
class PatchedChannelUpdateRequest:
    """What to change of a channel; absent fields stay.

    Attributes:
        name (str | Unset):
        url (str | Unset):
        kinds (list[str] | Unset):
        enabled (bool | Unset):
    """

    name: str | Unset = UNSET
    url: str | Unset = UNSET
    kinds: list[str] | Unset = UNSET
    enabled: bool | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        url = self.url

        kinds: list[str] | Unset = UNSET
        if not isinstance(self.kinds, Unset):
            kinds = self.kinds

        enabled = self.enabled

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if name is not UNSET:
            field_dict["name"] = name
        if url is not UNSET:
            field_dict["url"] = url
        if kinds is not UNSET:
            field_dict["kinds"] = kinds
        if enabled is not UNSET:
            field_dict["enabled"] = enabled

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        name = d.pop("name", UNSET)

        url = d.pop("url", UNSET)

        kinds = cast(list[str], d.pop("kinds", UNSET))

        enabled = d.pop("enabled", UNSET)

        patched_channel_update_request = cls(
            name=name,
            url=url,
            kinds=kinds,
            enabled=enabled,
        )

        patched_channel_update_request.additional_properties = d
        return patched_channel_update_request

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
