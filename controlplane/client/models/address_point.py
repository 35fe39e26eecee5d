from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="AddressPoint")


@_attrs_define
class AddressPoint:
    """One step: the numbers of messages in it, and the other values at its end. Null: not known.

    The last step is still running, so its values are the newest ones.

        Attributes:
            at (datetime.datetime): The start of the step.
            messages_in (int):
            messages_out (int):
            depth (int | None):
            stored_bytes (int | None):
            consumers (int | None):
    """

    at: datetime.datetime
    messages_in: int
    messages_out: int
    depth: int | None
    stored_bytes: int | None
    consumers: int | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        at = self.at.isoformat()

        messages_in = self.messages_in

        messages_out = self.messages_out

        depth: int | None
        depth = self.depth

        stored_bytes: int | None
        stored_bytes = self.stored_bytes

        consumers: int | None
        consumers = self.consumers

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "at": at,
                "messages_in": messages_in,
                "messages_out": messages_out,
                "depth": depth,
                "stored_bytes": stored_bytes,
                "consumers": consumers,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        at = datetime.datetime.fromisoformat(d.pop("at"))

        messages_in = d.pop("messages_in")

        messages_out = d.pop("messages_out")

        def _parse_depth(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        depth = _parse_depth(d.pop("depth"))

        def _parse_stored_bytes(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        stored_bytes = _parse_stored_bytes(d.pop("stored_bytes"))

        def _parse_consumers(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        consumers = _parse_consumers(d.pop("consumers"))

        address_point = cls(
            at=at,
            messages_in=messages_in,
            messages_out=messages_out,
            depth=depth,
            stored_bytes=stored_bytes,
            consumers=consumers,
        )

        address_point.additional_properties = d
        return address_point

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
