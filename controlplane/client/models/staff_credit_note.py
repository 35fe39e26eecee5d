from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="StaffCreditNote")


@_attrs_define
class StaffCreditNote:
    """A credit note of any tenant; `tenant` is the slug, `legal_entity` the key of the seller.

    Attributes:
        id (str):
        number (str):
        invoice (str):
        issued_at (datetime.datetime):
        currency (str):
        net_minor (int):
        tax_minor (int):
        total_minor (int):
        receivable_minor (int):
        credit_minor (int):
        reason (str):
        tenant (str):
        legal_entity (str):
    """

    id: str
    number: str
    invoice: str
    issued_at: datetime.datetime
    currency: str
    net_minor: int
    tax_minor: int
    total_minor: int
    receivable_minor: int
    credit_minor: int
    reason: str
    tenant: str
    legal_entity: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        number = self.number

        invoice = self.invoice

        issued_at = self.issued_at.isoformat()

        currency = self.currency

        net_minor = self.net_minor

        tax_minor = self.tax_minor

        total_minor = self.total_minor

        receivable_minor = self.receivable_minor

        credit_minor = self.credit_minor

        reason = self.reason

        tenant = self.tenant

        legal_entity = self.legal_entity

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "number": number,
                "invoice": invoice,
                "issued_at": issued_at,
                "currency": currency,
                "net_minor": net_minor,
                "tax_minor": tax_minor,
                "total_minor": total_minor,
                "receivable_minor": receivable_minor,
                "credit_minor": credit_minor,
                "reason": reason,
                "tenant": tenant,
                "legal_entity": legal_entity,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = d.pop("id")

        number = d.pop("number")

        invoice = d.pop("invoice")

        issued_at = datetime.datetime.fromisoformat(d.pop("issued_at"))

        currency = d.pop("currency")

        net_minor = d.pop("net_minor")

        tax_minor = d.pop("tax_minor")

        total_minor = d.pop("total_minor")

        receivable_minor = d.pop("receivable_minor")

        credit_minor = d.pop("credit_minor")

        reason = d.pop("reason")

        tenant = d.pop("tenant")

        legal_entity = d.pop("legal_entity")

        staff_credit_note = cls(
            id=id,
            number=number,
            invoice=invoice,
            issued_at=issued_at,
            currency=currency,
            net_minor=net_minor,
            tax_minor=tax_minor,
            total_minor=total_minor,
            receivable_minor=receivable_minor,
            credit_minor=credit_minor,
            reason=reason,
            tenant=tenant,
            legal_entity=legal_entity,
        )

        staff_credit_note.additional_properties = d
        return staff_credit_note

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
