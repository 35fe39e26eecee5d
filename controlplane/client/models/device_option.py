from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="DeviceOption")


@_attrs_define
class DeviceOption:
    """How a command begins a login at the identity provider (RFC 8628).

    `nonce` belongs into the device authorization request, and again into the body of
    `POST /session/device`. It can be used once, within an hour.

        Attributes:
            issuer (str):
            client_id (str):
            scope (str):
            nonce (str):
    """

    issuer: str
    client_id: str
    scope: str
    nonce: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        issuer = self.issuer

        client_id = self.client_id

        scope = self.scope

        nonce = self.nonce

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "issuer": issuer,
                "client_id": client_id,
                "scope": scope,
                "nonce": nonce,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        issuer = d.pop("issuer")

        client_id = d.pop("client_id")

        scope = d.pop("scope")

        nonce = d.pop("nonce")

        device_option = cls(
            issuer=issuer,
            client_id=client_id,
            scope=scope,
            nonce=nonce,
        )

        device_option.additional_properties = d
        return device_option

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
