from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.movement_kind_enum import MovementKindEnum, check_movement_kind_enum

T = TypeVar("T", bound="Movement")


@_attrs_define
class Movement:
    """What one entry of the ledger changed of a tenant's credit, in minor units.

    `after_minor` is the credit of this legal entity and currency after it. Expired credit is part
    of it until its end is booked.

        Attributes:
            booked_at (datetime.datetime):
            text (str):
            kind (MovementKindEnum): * `credit` - credit
                * `prepaid` - prepaid
                * `promotional` - promotional
            legal_entity (str):
            currency (str):
            change_minor (int):
            after_minor (int):
    """

    booked_at: datetime.datetime
    text: str
    kind: MovementKindEnum
    legal_entity: str
    currency: str
    change_minor: int
    after_minor: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        booked_at = self.booked_at.isoformat()

        text = self.text

        kind: str = self.kind

        legal_entity = self.legal_entity

        currency = self.currency

        change_minor = self.change_minor

        after_minor = self.after_minor

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "booked_at": booked_at,
                "text": text,
                "kind": kind,
                "legal_entity": legal_entity,
                "currency": currency,
                "change_minor": change_minor,
                "after_minor": after_minor,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        booked_at = datetime.datetime.fromisoformat(d.pop("booked_at"))

        text = d.pop("text")

        kind = check_movement_kind_enum(d.pop("kind"))

        legal_entity = d.pop("legal_entity")

        currency = d.pop("currency")

        change_minor = d.pop("change_minor")

        after_minor = d.pop("after_minor")

        movement = cls(
            booked_at=booked_at,
            text=text,
            kind=kind,
            legal_entity=legal_entity,
            currency=currency,
            change_minor=change_minor,
            after_minor=after_minor,
        )

        movement.additional_properties = d
        return movement

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
