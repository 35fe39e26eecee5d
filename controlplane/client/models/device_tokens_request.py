from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="DeviceTokensRequest")


@_attrs_define
class DeviceTokensRequest:
    """The tokens that the identity provider gave the command, and the nonce of this login.

    Attributes:
        id_token (str):
        access_token (str):
        nonce (str):
    """

    id_token: str
    access_token: str
    nonce: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id_token = self.id_token

        access_token = self.access_token

        nonce = self.nonce

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id_token": id_token,
                "access_token": access_token,
                "nonce": nonce,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id_token = d.pop("id_token")

        access_token = d.pop("access_token")

        nonce = d.pop("nonce")

        device_tokens_request = cls(
            id_token=id_token,
            access_token=access_token,
            nonce=nonce,
        )

        device_tokens_request.additional_properties = d
        return device_tokens_request

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
