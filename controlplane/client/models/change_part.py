from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.change_part_cause_enum import (
    ChangePartCauseEnum,
    check_change_part_cause_enum,
)

T = TypeVar("T", bound="ChangePart")


@_attrs_define
class ChangePart:
    """One part of a change: its cause, the meter it is about (or empty), and words for people.

    Attributes:
        cause (ChangePartCauseEnum): * `quantity` - quantity
            * `price` - price
            * `plan` - plan
            * `divided_month` - divided_month
            * `correction` - correction
            * `discount` - discount
            * `commitment` - commitment
            * `tax` - tax
            * `credit` - credit
        meter (str):
        title (str):
        amount_minor (int):
        words (str):
    """

    cause: ChangePartCauseEnum
    meter: str
    title: str
    amount_minor: int
    words: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        cause: str = self.cause

        meter = self.meter

        title = self.title

        amount_minor = self.amount_minor

        words = self.words

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "cause": cause,
                "meter": meter,
                "title": title,
                "amount_minor": amount_minor,
                "words": words,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        cause = check_change_part_cause_enum(d.pop("cause"))

        meter = d.pop("meter")

        title = d.pop("title")

        amount_minor = d.pop("amount_minor")

        words = d.pop("words")

        change_part = cls(
            cause=cause,
            meter=meter,
            title=title,
            amount_minor=amount_minor,
            words=words,
        )

        change_part.additional_properties = d
        return change_part

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
