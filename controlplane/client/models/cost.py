from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.cause_enum import CauseEnum, check_cause_enum

T = TypeVar("T", bound="Cost")


@_attrs_define
class Cost:
    """The net amount of one cause; what no space caused is `shared`, such as the plan's fee.

    Attributes:
        cause (CauseEnum): * `space` - space
            * `label` - label
            * `unlabeled` - unlabeled
            * `shared` - shared
        name (str): The space's name, or the label with its value, such as `team=shop`.
        amount_minor (int):
    """

    cause: CauseEnum
    name: str
    amount_minor: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        cause: str = self.cause

        name = self.name

        amount_minor = self.amount_minor

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "cause": cause,
                "name": name,
                "amount_minor": amount_minor,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        cause = check_cause_enum(d.pop("cause"))

        name = d.pop("name")

        amount_minor = d.pop("amount_minor")

        cost = cls(
            cause=cause,
            name=name,
            amount_minor=amount_minor,
        )

        cost.additional_properties = d
        return cost

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
