from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Debt")


@_attrs_define
class Debt:
    """What all tenants together owe to a legal entity in a currency, by age.

    Attributes:
        not_due_minor (int):
        days_1_to_30_minor (int):
        days_31_to_60_minor (int):
        days_61_to_90_minor (int):
        days_over_90_minor (int):
        overdue_minor (int):
        total_minor (int):
        legal_entity (str):
        currency (str):
    """

    not_due_minor: int
    days_1_to_30_minor: int
    days_31_to_60_minor: int
    days_61_to_90_minor: int
    days_over_90_minor: int
    overdue_minor: int
    total_minor: int
    legal_entity: str
    currency: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        not_due_minor = self.not_due_minor

        days_1_to_30_minor = self.days_1_to_30_minor

        days_31_to_60_minor = self.days_31_to_60_minor

        days_61_to_90_minor = self.days_61_to_90_minor

        days_over_90_minor = self.days_over_90_minor

        overdue_minor = self.overdue_minor

        total_minor = self.total_minor

        legal_entity = self.legal_entity

        currency = self.currency

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "not_due_minor": not_due_minor,
                "days_1_to_30_minor": days_1_to_30_minor,
                "days_31_to_60_minor": days_31_to_60_minor,
                "days_61_to_90_minor": days_61_to_90_minor,
                "days_over_90_minor": days_over_90_minor,
                "overdue_minor": overdue_minor,
                "total_minor": total_minor,
                "legal_entity": legal_entity,
                "currency": currency,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        not_due_minor = d.pop("not_due_minor")

        days_1_to_30_minor = d.pop("days_1_to_30_minor")

        days_31_to_60_minor = d.pop("days_31_to_60_minor")

        days_61_to_90_minor = d.pop("days_61_to_90_minor")

        days_over_90_minor = d.pop("days_over_90_minor")

        overdue_minor = d.pop("overdue_minor")

        total_minor = d.pop("total_minor")

        legal_entity = d.pop("legal_entity")

        currency = d.pop("currency")

        debt = cls(
            not_due_minor=not_due_minor,
            days_1_to_30_minor=days_1_to_30_minor,
            days_31_to_60_minor=days_31_to_60_minor,
            days_61_to_90_minor=days_61_to_90_minor,
            days_over_90_minor=days_over_90_minor,
            overdue_minor=overdue_minor,
            total_minor=total_minor,
            legal_entity=legal_entity,
            currency=currency,
        )

        debt.additional_properties = d
        return debt

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
