from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.counter_values import CounterValues


T = TypeVar("T", bound="Counter")


@_attrs_define
class Counter:
    """One counter: an incarnation of an address, and what each meter of it reached.

    `used` is `after` minus `before`; of a peak it is the largest value of the part.

        Attributes:
            position (int):
            values (CounterValues):
    """

    position: int
    values: CounterValues
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        position = self.position

        values = self.values.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "position": position,
                "values": values,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.counter_values import CounterValues  # noqa: PLC0415

        d = dict(src_dict)
        position = d.pop("position")

        values = CounterValues.from_dict(d.pop("values"))

        counter = cls(
            position=position,
            values=values,
        )

        counter.additional_properties = d
        return counter

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
