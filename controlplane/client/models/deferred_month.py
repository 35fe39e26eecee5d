from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="DeferredMonth")


@_attrs_define
class DeferredMonth:
    """One month of a legal entity and currency, in minor units.

    `deferred` (billed and not earned yet), `accrued` (earned and not billed yet) and `prepaid_owed`
    are those at the end of the month.

        Attributes:
            month (datetime.date):
            legal_entity (str):
            currency (str):
            billed (int):
            earned (int):
            deferred (int):
            accrued (int):
            prepaid_received (int):
            prepaid_used (int):
            prepaid_expired (int):
            prepaid_paid_back (int):
            prepaid_owed (int):
    """

    month: datetime.date
    legal_entity: str
    currency: str
    billed: int
    earned: int
    deferred: int
    accrued: int
    prepaid_received: int
    prepaid_used: int
    prepaid_expired: int
    prepaid_paid_back: int
    prepaid_owed: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        month = self.month.isoformat()

        legal_entity = self.legal_entity

        currency = self.currency

        billed = self.billed

        earned = self.earned

        deferred = self.deferred

        accrued = self.accrued

        prepaid_received = self.prepaid_received

        prepaid_used = self.prepaid_used

        prepaid_expired = self.prepaid_expired

        prepaid_paid_back = self.prepaid_paid_back

        prepaid_owed = self.prepaid_owed

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "month": month,
                "legal_entity": legal_entity,
                "currency": currency,
                "billed": billed,
                "earned": earned,
                "deferred": deferred,
                "accrued": accrued,
                "prepaid_received": prepaid_received,
                "prepaid_used": prepaid_used,
                "prepaid_expired": prepaid_expired,
                "prepaid_paid_back": prepaid_paid_back,
                "prepaid_owed": prepaid_owed,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        month = datetime.date.fromisoformat(d.pop("month"))

        legal_entity = d.pop("legal_entity")

        currency = d.pop("currency")

        billed = d.pop("billed")

        earned = d.pop("earned")

        deferred = d.pop("deferred")

        accrued = d.pop("accrued")

        prepaid_received = d.pop("prepaid_received")

        prepaid_used = d.pop("prepaid_used")

        prepaid_expired = d.pop("prepaid_expired")

        prepaid_paid_back = d.pop("prepaid_paid_back")

        prepaid_owed = d.pop("prepaid_owed")

        deferred_month = cls(
            month=month,
            legal_entity=legal_entity,
            currency=currency,
            billed=billed,
            earned=earned,
            deferred=deferred,
            accrued=accrued,
            prepaid_received=prepaid_received,
            prepaid_used=prepaid_used,
            prepaid_expired=prepaid_expired,
            prepaid_paid_back=prepaid_paid_back,
            prepaid_owed=prepaid_owed,
        )

        deferred_month.additional_properties = d
        return deferred_month

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
