from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="JournalLine")


@_attrs_define
class JournalLine:
    """One posting of the ledger: exactly one of `debit_minor` and `credit_minor` is above zero.

    `date` is the day of booking in UTC. `document_date` is the day that the invoice or credit note
    bears, or the day on which a payment was received; of everything else it is `date`.
    `account_code` is what the accounting system of the legal entity calls the account.

        Attributes:
            posting_id (int):
            entry_id (int):
            date (datetime.date):
            document_number (str):
            legal_entity (str):
            tenant_id (str):
            tenant (str):
            account_code (str):
            account (str):
            text (str):
            debit_minor (int):
            credit_minor (int):
            currency (str):
            reference (str):
            document_date (datetime.date):
    """

    posting_id: int
    entry_id: int
    date: datetime.date
    document_number: str
    legal_entity: str
    tenant_id: str
    tenant: str
    account_code: str
    account: str
    text: str
    debit_minor: int
    credit_minor: int
    currency: str
    reference: str
    document_date: datetime.date
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        posting_id = self.posting_id

        entry_id = self.entry_id

        date = self.date.isoformat()

        document_number = self.document_number

        legal_entity = self.legal_entity

        tenant_id = self.tenant_id

        tenant = self.tenant

        account_code = self.account_code

        account = self.account

        text = self.text

        debit_minor = self.debit_minor

        credit_minor = self.credit_minor

        currency = self.currency

        reference = self.reference

        document_date = self.document_date.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "posting_id": posting_id,
                "entry_id": entry_id,
                "date": date,
                "document_number": document_number,
                "legal_entity": legal_entity,
                "tenant_id": tenant_id,
                "tenant": tenant,
                "account_code": account_code,
                "account": account,
                "text": text,
                "debit_minor": debit_minor,
                "credit_minor": credit_minor,
                "currency": currency,
                "reference": reference,
                "document_date": document_date,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        posting_id = d.pop("posting_id")

        entry_id = d.pop("entry_id")

        date = datetime.date.fromisoformat(d.pop("date"))

        document_number = d.pop("document_number")

        legal_entity = d.pop("legal_entity")

        tenant_id = d.pop("tenant_id")

        tenant = d.pop("tenant")

        account_code = d.pop("account_code")

        account = d.pop("account")

        text = d.pop("text")

        debit_minor = d.pop("debit_minor")

        credit_minor = d.pop("credit_minor")

        currency = d.pop("currency")

        reference = d.pop("reference")

        document_date = datetime.date.fromisoformat(d.pop("document_date"))

        journal_line = cls(
            posting_id=posting_id,
            entry_id=entry_id,
            date=date,
            document_number=document_number,
            legal_entity=legal_entity,
            tenant_id=tenant_id,
            tenant=tenant,
            account_code=account_code,
            account=account,
            text=text,
            debit_minor=debit_minor,
            credit_minor=credit_minor,
            currency=currency,
            reference=reference,
            document_date=document_date,
        )

        journal_line.additional_properties = d
        return journal_line

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
