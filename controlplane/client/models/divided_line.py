from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.read_from_enum import ReadFromEnum, check_read_from_enum
from ..models.step_enum import StepEnum, check_step_enum

if TYPE_CHECKING:
    from ..models.line_step import LineStep


T = TypeVar("T", bound="DividedLine")


@_attrs_define
class DividedLine:
    """An invoice line of usage, divided by days or hours.

    Over all days, `billed_base` adds up to that of the line exactly, and `used_base` too; of a peak
    meter, the largest `used_base` is that of the line. `is_exact` is false if usage arrived after
    the invoice was made: then request a reading of the line's window, and get the line again.

        Attributes:
            position (int):
            description (str):
            meter (str):
            unit (str):
            base_per_unit (int):
            quantity (str):
            used_base (int):
            billed_base (int):
            starts_at (datetime.datetime):
            ends_at (datetime.datetime):
            time_zone (str):
            read_from (ReadFromEnum): * `copy` - copy
                * `pinned` - pinned
            is_exact (bool):
            step (StepEnum): * `hour` - hour
                * `day` - day
            steps (list[LineStep]):
    """

    position: int
    description: str
    meter: str
    unit: str
    base_per_unit: int
    quantity: str
    used_base: int
    billed_base: int
    starts_at: datetime.datetime
    ends_at: datetime.datetime
    time_zone: str
    read_from: ReadFromEnum
    is_exact: bool
    step: StepEnum
    steps: list[LineStep]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        position = self.position

        description = self.description

        meter = self.meter

        unit = self.unit

        base_per_unit = self.base_per_unit

        quantity = self.quantity

        used_base = self.used_base

        billed_base = self.billed_base

        starts_at = self.starts_at.isoformat()

        ends_at = self.ends_at.isoformat()

        time_zone = self.time_zone

        read_from: str = self.read_from

        is_exact = self.is_exact

        step: str = self.step

        steps = []
        for steps_item_data in self.steps:
            steps_item = steps_item_data.to_dict()
            steps.append(steps_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "position": position,
                "description": description,
                "meter": meter,
                "unit": unit,
                "base_per_unit": base_per_unit,
                "quantity": quantity,
                "used_base": used_base,
                "billed_base": billed_base,
                "starts_at": starts_at,
                "ends_at": ends_at,
                "time_zone": time_zone,
                "read_from": read_from,
                "is_exact": is_exact,
                "step": step,
                "steps": steps,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.line_step import LineStep  # noqa: PLC0415

        d = dict(src_dict)
        position = d.pop("position")

        description = d.pop("description")

        meter = d.pop("meter")

        unit = d.pop("unit")

        base_per_unit = d.pop("base_per_unit")

        quantity = d.pop("quantity")

        used_base = d.pop("used_base")

        billed_base = d.pop("billed_base")

        starts_at = datetime.datetime.fromisoformat(d.pop("starts_at"))

        ends_at = datetime.datetime.fromisoformat(d.pop("ends_at"))

        time_zone = d.pop("time_zone")

        read_from = check_read_from_enum(d.pop("read_from"))

        is_exact = d.pop("is_exact")

        step = check_step_enum(d.pop("step"))

        steps = []
        _steps = d.pop("steps")
        for steps_item_data in _steps:
            steps_item = LineStep.from_dict(steps_item_data)

            steps.append(steps_item)

        divided_line = cls(
            position=position,
            description=description,
            meter=meter,
            unit=unit,
            base_per_unit=base_per_unit,
            quantity=quantity,
            used_base=used_base,
            billed_base=billed_base,
            starts_at=starts_at,
            ends_at=ends_at,
            time_zone=time_zone,
            read_from=read_from,
            is_exact=is_exact,
            step=step,
            steps=steps,
        )

        divided_line.additional_properties = d
        return divided_line

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
