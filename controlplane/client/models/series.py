from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.meter_enum import MeterEnum, check_meter_enum
from ..models.step_enum import StepEnum, check_step_enum

if TYPE_CHECKING:
    from ..models.point import Point


T = TypeVar("T", bound="Series")


@_attrs_define
class Series:
    """The usage of one meter over time, oldest step first; steps without usage are left out.

    Attributes:
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
        step (StepEnum): * `hour` - hour
            * `day` - day
        as_of (datetime.datetime | None):
        items (list[Point]):
    """

    meter: MeterEnum
    step: StepEnum
    as_of: datetime.datetime | None
    items: list[Point]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        meter: str = self.meter

        step: str = self.step

        as_of: None | str
        if isinstance(self.as_of, datetime.datetime):
            as_of = self.as_of.isoformat()
        else:
            as_of = self.as_of

        items = []
        for items_item_data in self.items:
            items_item = items_item_data.to_dict()
            items.append(items_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "meter": meter,
                "step": step,
                "as_of": as_of,
                "items": items,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.point import Point  # noqa: PLC0415

        d = dict(src_dict)
        meter = check_meter_enum(d.pop("meter"))

        step = check_step_enum(d.pop("step"))

        def _parse_as_of(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                as_of_type_0 = datetime.datetime.fromisoformat(data)

                return as_of_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        as_of = _parse_as_of(d.pop("as_of"))

        items = []
        _items = d.pop("items")
        for items_item_data in _items:
            items_item = Point.from_dict(items_item_data)

            items.append(items_item)

        series = cls(
            meter=meter,
            step=step,
            as_of=as_of,
            items=items,
        )

        series.additional_properties = d
        return series

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
