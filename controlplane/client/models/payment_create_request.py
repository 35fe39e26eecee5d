from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="PaymentCreateRequest")


@_attrs_define
class PaymentCreateRequest:
    """A received payment, in minor units of the invoice's currency.

    `source` and `reference` together identify the payment. With `surplus_to_credit`, what exceeds
    the amount due becomes credit of the tenant.

        Attributes:
            amount_minor (int):
            reference (str):
            received_on (datetime.date):
            source (str | Unset):
            surplus_to_credit (bool | Unset):
    """

    amount_minor: int
    reference: str
    received_on: datetime.date
    source: str | Unset = UNSET
    surplus_to_credit: bool | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        amount_minor = self.amount_minor

        reference = self.reference

        received_on = self.received_on.isoformat()

        source = self.source

        surplus_to_credit = self.surplus_to_credit

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "amount_minor": amount_minor,
                "reference": reference,
                "received_on": received_on,
            }
        )
        if source is not UNSET:
            field_dict["source"] = source
        if surplus_to_credit is not UNSET:
            field_dict["surplus_to_credit"] = surplus_to_credit

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        amount_minor = d.pop("amount_minor")

        reference = d.pop("reference")

        received_on = datetime.date.fromisoformat(d.pop("received_on"))

        source = d.pop("source", UNSET)

        surplus_to_credit = d.pop("surplus_to_credit", UNSET)

        payment_create_request = cls(
            amount_minor=amount_minor,
            reference=reference,
            received_on=received_on,
            source=source,
            surplus_to_credit=surplus_to_credit,
        )

        payment_create_request.additional_properties = d
        return payment_create_request

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
