from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.send_request_properties import SendRequestProperties


T = TypeVar("T", bound="SendRequest")


@_attrs_define
class SendRequest:
    """A test message to send: its address, its text, application properties, and durability.

    Attributes:
        address (str):
        body (str):
        properties (SendRequestProperties | Unset):
        durable (bool | Unset):
    """

    address: str
    body: str
    properties: SendRequestProperties | Unset = UNSET
    durable: bool | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        address = self.address

        body = self.body

        properties: dict[str, Any] | Unset = UNSET
        if not isinstance(self.properties, Unset):
            properties = self.properties.to_dict()

        durable = self.durable

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "address": address,
                "body": body,
            }
        )
        if properties is not UNSET:
            field_dict["properties"] = properties
        if durable is not UNSET:
            field_dict["durable"] = durable

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.send_request_properties import SendRequestProperties  # noqa: PLC0415

        d = dict(src_dict)
        address = d.pop("address")

        body = d.pop("body")

        _properties = d.pop("properties", UNSET)
        properties: SendRequestProperties | Unset
        if isinstance(_properties, Unset):
            properties = UNSET
        else:
            properties = SendRequestProperties.from_dict(_properties)

        durable = d.pop("durable", UNSET)

        send_request = cls(
            address=address,
            body=body,
            properties=properties,
            durable=durable,
        )

        send_request.additional_properties = d
        return send_request

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
