from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Payment")


@_attrs_define
class Payment:
    """A recorded payment of an invoice, in minor units of `currency`, that of the invoice.

    Attributes:
        source (str):
        reference (str):
        amount_minor (int):
        credit_minor (int): The part that exceeded what was due, and became credit of the tenant.
        currency (str):
        received_on (datetime.date):
        recorded_by (str):
        invoice (str):
    """

    source: str
    reference: str
    amount_minor: int
    credit_minor: int
    currency: str
    received_on: datetime.date
    recorded_by: str
    invoice: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        source = self.source

        reference = self.reference

        amount_minor = self.amount_minor

        credit_minor = self.credit_minor

        currency = self.currency

        received_on = self.received_on.isoformat()

        recorded_by = self.recorded_by

        invoice = self.invoice

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "source": source,
                "reference": reference,
                "amount_minor": amount_minor,
                "credit_minor": credit_minor,
                "currency": currency,
                "received_on": received_on,
                "recorded_by": recorded_by,
                "invoice": invoice,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        source = d.pop("source")

        reference = d.pop("reference")

        amount_minor = d.pop("amount_minor")

        credit_minor = d.pop("credit_minor")

        currency = d.pop("currency")

        received_on = datetime.date.fromisoformat(d.pop("received_on"))

        recorded_by = d.pop("recorded_by")

        invoice = d.pop("invoice")

        payment = cls(
            source=source,
            reference=reference,
            amount_minor=amount_minor,
            credit_minor=credit_minor,
            currency=currency,
            received_on=received_on,
            recorded_by=recorded_by,
            invoice=invoice,
        )

        payment.additional_properties = d
        return payment

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
