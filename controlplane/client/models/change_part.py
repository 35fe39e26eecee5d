from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.caused_by_enum import CausedByEnum, check_caused_by_enum

T = TypeVar("T", bound="ChangePart")


@_attrs_define
class ChangePart:
    """One part of a change: its cause, the meter it is about (or empty), and words for people.

    Attributes:
        caused_by (CausedByEnum): * `quantity` - quantity
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

    caused_by: CausedByEnum
    meter: str
    title: str
    amount_minor: int
    words: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        caused_by: str = self.caused_by

        meter = self.meter

        title = self.title

        amount_minor = self.amount_minor

        words = self.words

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "caused_by": caused_by,
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
        caused_by = check_caused_by_enum(d.pop("caused_by"))

        meter = d.pop("meter")

        title = d.pop("title")

        amount_minor = d.pop("amount_minor")

        words = d.pop("words")

        change_part = cls(
            caused_by=caused_by,
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
