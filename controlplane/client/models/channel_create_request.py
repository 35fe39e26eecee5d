from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.channel_kind import ChannelKind, check_channel_kind
from ..types import UNSET, Unset

T = TypeVar("T", bound="ChannelCreateRequest")


@_attrs_define
class ChannelCreateRequest:
    """A channel to create. An empty list of `kinds` means all of them.

    `url` is a https address for a webhook, and a URL of the form `slack://TokenA/TokenB/TokenC` for
    a chat.

        Attributes:
            name (str):
            kind (ChannelKind): * `webhook` - Webhook
                * `chat` - Chat
            url (str):
            kinds (list[str] | Unset):
    """

    name: str
    kind: ChannelKind
    url: str
    kinds: list[str] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        kind: str = self.kind

        url = self.url

        kinds: list[str] | Unset = UNSET
        if not isinstance(self.kinds, Unset):
            kinds = self.kinds

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "name": name,
                "kind": kind,
                "url": url,
            }
        )
        if kinds is not UNSET:
            field_dict["kinds"] = kinds

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        name = d.pop("name")

        kind = check_channel_kind(d.pop("kind"))

        url = d.pop("url")

        kinds = cast(list[str], d.pop("kinds", UNSET))

        channel_create_request = cls(
            name=name,
            kind=kind,
            url=url,
            kinds=kinds,
        )

        channel_create_request.additional_properties = d
        return channel_create_request

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
