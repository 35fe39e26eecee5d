from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.bucket_enum import BucketEnum, check_bucket_enum

T = TypeVar("T", bound="OpenItem")


@_attrs_define
class OpenItem:
    """What is due of an invoice on the day, in minor units of `currency`.

    `days_overdue` counts from `due_on`; 0 or less: that day is not over.

        Attributes:
            invoice (str):
            number (str):
            legal_entity (str):
            currency (str):
            issued_at (datetime.datetime):
            due_on (datetime.date):
            days_overdue (int):
            bucket (BucketEnum): * `not_due` - not_due
                * `days_1_to_30` - days_1_to_30
                * `days_31_to_60` - days_31_to_60
                * `days_61_to_90` - days_61_to_90
                * `days_over_90` - days_over_90
            due_minor (int):
    """

    invoice: str
    number: str
    legal_entity: str
    currency: str
    issued_at: datetime.datetime
    due_on: datetime.date
    days_overdue: int
    bucket: BucketEnum
    due_minor: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        invoice = self.invoice

        number = self.number

        legal_entity = self.legal_entity

        currency = self.currency

        issued_at = self.issued_at.isoformat()

        due_on = self.due_on.isoformat()

        days_overdue = self.days_overdue

        bucket: str = self.bucket

        due_minor = self.due_minor

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "invoice": invoice,
                "number": number,
                "legal_entity": legal_entity,
                "currency": currency,
                "issued_at": issued_at,
                "due_on": due_on,
                "days_overdue": days_overdue,
                "bucket": bucket,
                "due_minor": due_minor,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        invoice = d.pop("invoice")

        number = d.pop("number")

        legal_entity = d.pop("legal_entity")

        currency = d.pop("currency")

        issued_at = datetime.datetime.fromisoformat(d.pop("issued_at"))

        due_on = datetime.date.fromisoformat(d.pop("due_on"))

        days_overdue = d.pop("days_overdue")

        bucket = check_bucket_enum(d.pop("bucket"))

        due_minor = d.pop("due_minor")

        open_item = cls(
            invoice=invoice,
            number=number,
            legal_entity=legal_entity,
            currency=currency,
            issued_at=issued_at,
            due_on=due_on,
            days_overdue=days_overdue,
            bucket=bucket,
            due_minor=due_minor,
        )

        open_item.additional_properties = d
        return open_item

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
