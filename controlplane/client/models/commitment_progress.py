from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="CommitmentProgress")


@_attrs_define
class CommitmentProgress:
    """How far the running month is toward the minimum of all commitments together, before tax.

    `reached_minor` is what the month has cost so far, after discounts. `charged_minor` is what
    earlier invoices of the month charged up to the minimum. `missing_minor` is what the last
    invoice of the month adds if nothing more is used; negative: what it takes back.

        Attributes:
            month_starts_at (datetime.datetime):
            month_ends_at (datetime.datetime):
            currency (str):
            minimum_minor (int):
            reached_minor (int):
            charged_minor (int):
            missing_minor (int):
            percent (int):
    """

    month_starts_at: datetime.datetime
    month_ends_at: datetime.datetime
    currency: str
    minimum_minor: int
    reached_minor: int
    charged_minor: int
    missing_minor: int
    percent: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        month_starts_at = self.month_starts_at.isoformat()

        month_ends_at = self.month_ends_at.isoformat()

        currency = self.currency

        minimum_minor = self.minimum_minor

        reached_minor = self.reached_minor

        charged_minor = self.charged_minor

        missing_minor = self.missing_minor

        percent = self.percent

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "month_starts_at": month_starts_at,
                "month_ends_at": month_ends_at,
                "currency": currency,
                "minimum_minor": minimum_minor,
                "reached_minor": reached_minor,
                "charged_minor": charged_minor,
                "missing_minor": missing_minor,
                "percent": percent,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        month_starts_at = datetime.datetime.fromisoformat(d.pop("month_starts_at"))

        month_ends_at = datetime.datetime.fromisoformat(d.pop("month_ends_at"))

        currency = d.pop("currency")

        minimum_minor = d.pop("minimum_minor")

        reached_minor = d.pop("reached_minor")

        charged_minor = d.pop("charged_minor")

        missing_minor = d.pop("missing_minor")

        percent = d.pop("percent")

        commitment_progress = cls(
            month_starts_at=month_starts_at,
            month_ends_at=month_ends_at,
            currency=currency,
            minimum_minor=minimum_minor,
            reached_minor=reached_minor,
            charged_minor=charged_minor,
            missing_minor=missing_minor,
            percent=percent,
        )

        commitment_progress.additional_properties = d
        return commitment_progress

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
