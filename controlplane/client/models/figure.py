from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.meter_enum import MeterEnum, check_meter_enum

T = TypeVar("T", bound="Figure")


@_attrs_define
class Figure:
    """The usage of one meter by one address; where `address` is empty, by the space itself.

    `quantity` is the sum over the window; of the meter `peak_connections` it is the largest value.

        Attributes:
            space_id (str):
            space (str): The name; a deleted space keeps it.
            address (str):
            meter (MeterEnum): * `messages_in` - messages_in
                * `messages_out` - messages_out
                * `connections_opened` - connections_opened
                * `connection_ms` - connection_ms
                * `stored_byte_ms` - stored_byte_ms
                * `peak_connections` - peak_connections
                * `bytes_in` - bytes_in
                * `bytes_out` - bytes_out
                * `steps_64k_in` - steps_64k_in
                * `steps_64k_out` - steps_64k_out
            quantity (int): In base units: messages, milliseconds, …
    """

    space_id: str
    space: str
    address: str
    meter: MeterEnum
    quantity: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        space_id = self.space_id

        space = self.space

        address = self.address

        meter: str = self.meter

        quantity = self.quantity

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "space_id": space_id,
                "space": space,
                "address": address,
                "meter": meter,
                "quantity": quantity,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        space_id = d.pop("space_id")

        space = d.pop("space")

        address = d.pop("address")

        meter = check_meter_enum(d.pop("meter"))

        quantity = d.pop("quantity")

        figure = cls(
            space_id=space_id,
            space=space,
            address=address,
            meter=meter,
            quantity=quantity,
        )

        figure.additional_properties = d
        return figure

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
