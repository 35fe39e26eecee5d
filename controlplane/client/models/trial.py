from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Trial")


@_attrs_define
class Trial:
    """A running trial. From `ends_at` on the fee of the plan is charged, by seconds.

    `first_fee_minor` is the fee of the rest of the month in which it ends, before tax.

        Attributes:
            plan (str):
            currency (str):
            ends_at (datetime.datetime):
            days_left (int):
            monthly_fee_minor (int):
            first_fee_minor (int):
    """

    plan: str
    currency: str
    ends_at: datetime.datetime
    days_left: int
    monthly_fee_minor: int
    first_fee_minor: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        plan = self.plan

        currency = self.currency

        ends_at = self.ends_at.isoformat()

        days_left = self.days_left

        monthly_fee_minor = self.monthly_fee_minor

        first_fee_minor = self.first_fee_minor

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "plan": plan,
                "currency": currency,
                "ends_at": ends_at,
                "days_left": days_left,
                "monthly_fee_minor": monthly_fee_minor,
                "first_fee_minor": first_fee_minor,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        plan = d.pop("plan")

        currency = d.pop("currency")

        ends_at = datetime.datetime.fromisoformat(d.pop("ends_at"))

        days_left = d.pop("days_left")

        monthly_fee_minor = d.pop("monthly_fee_minor")

        first_fee_minor = d.pop("first_fee_minor")

        trial = cls(
            plan=plan,
            currency=currency,
            ends_at=ends_at,
            days_left=days_left,
            monthly_fee_minor=monthly_fee_minor,
            first_fee_minor=first_fee_minor,
        )

        trial.additional_properties = d
        return trial

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
