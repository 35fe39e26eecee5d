from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="UserReading")


@_attrs_define
class UserReading:
    """What the listed open connections of one messaging user add up to.

    Rates are messages per second between the last two readings; null if none is known.

        Attributes:
            connections (int):
            links (int): Open senders and receivers.
            sent_per_second (float | None):
            received_per_second (float | None):
    """

    connections: int
    links: int
    sent_per_second: float | None
    received_per_second: float | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        connections = self.connections

        links = self.links

        sent_per_second: float | None
        sent_per_second = self.sent_per_second

        received_per_second: float | None
        received_per_second = self.received_per_second

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "connections": connections,
                "links": links,
                "sent_per_second": sent_per_second,
                "received_per_second": received_per_second,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        connections = d.pop("connections")

        links = d.pop("links")

        def _parse_sent_per_second(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        sent_per_second = _parse_sent_per_second(d.pop("sent_per_second"))

        def _parse_received_per_second(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        received_per_second = _parse_received_per_second(d.pop("received_per_second"))

        user_reading = cls(
            connections=connections,
            links=links,
            sent_per_second=sent_per_second,
            received_per_second=received_per_second,
        )

        user_reading.additional_properties = d
        return user_reading

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
