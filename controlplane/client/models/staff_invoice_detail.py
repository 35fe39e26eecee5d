from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.invoice_state import InvoiceState, check_invoice_state

if TYPE_CHECKING:
    from ..models.held_reason import HeldReason
    from ..models.staff_invoice_detail_document_type_0 import (
        StaffInvoiceDetailDocumentType0,
    )


T = TypeVar("T", bound="StaffInvoiceDetail")


@_attrs_define
class StaffInvoiceDetail:
    """An invoice of any tenant with its document; `tenant` is the slug.

    `document` is null until the period has been closed successfully.

        Attributes:
            id (str):
            number (None | str): Null until issued.
            state (InvoiceState): * `open` - Open
                * `closing` - Closing
                * `held` - Held
                * `draft` - Draft
                * `approved` - Approved
                * `issuing` - Issuing
                * `issued` - Issued
                * `partly_paid` - Partly Paid
                * `paid` - Paid
                * `overdue` - Overdue
                * `uncollectible` - Uncollectible
                * `voided` - Voided
            starts_at (datetime.datetime):
            ends_at (datetime.datetime):
            currency (str):
            net_minor (int):
            tax_minor (int):
            total_minor (int):
            credit_minor (int): The part of the total that credit settles. 0 before the invoice is issued: credit is used
                then. If it is negative, the invoice adds to the credit.
            payable_minor (int): Total minus credit; never negative once issued.
            outstanding_minor (int): What is still to pay.
            issued_at (datetime.datetime | None):
            due_at (datetime.datetime | None):
            held_reasons (list[HeldReason]):
            replaces (None | str): Number of the voided invoice in whose place this one is.
            replaced_by (None | str): Number of the invoice in place of this voided one.
            document (None | StaffInvoiceDetailDocumentType0):
            tenant (str):
    """

    id: str
    number: None | str
    state: InvoiceState
    starts_at: datetime.datetime
    ends_at: datetime.datetime
    currency: str
    net_minor: int
    tax_minor: int
    total_minor: int
    credit_minor: int
    payable_minor: int
    outstanding_minor: int
    issued_at: datetime.datetime | None
    due_at: datetime.datetime | None
    held_reasons: list[HeldReason]
    replaces: None | str
    replaced_by: None | str
    document: None | StaffInvoiceDetailDocumentType0
    tenant: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.staff_invoice_detail_document_type_0 import (
            StaffInvoiceDetailDocumentType0,  # noqa: PLC0415
        )

        id = self.id

        number: None | str
        number = self.number

        state: str = self.state

        starts_at = self.starts_at.isoformat()

        ends_at = self.ends_at.isoformat()

        currency = self.currency

        net_minor = self.net_minor

        tax_minor = self.tax_minor

        total_minor = self.total_minor

        credit_minor = self.credit_minor

        payable_minor = self.payable_minor

        outstanding_minor = self.outstanding_minor

        issued_at: None | str
        if isinstance(self.issued_at, datetime.datetime):
            issued_at = self.issued_at.isoformat()
        else:
            issued_at = self.issued_at

        due_at: None | str
        if isinstance(self.due_at, datetime.datetime):
            due_at = self.due_at.isoformat()
        else:
            due_at = self.due_at

        held_reasons = []
        for held_reasons_item_data in self.held_reasons:
            held_reasons_item = held_reasons_item_data.to_dict()
            held_reasons.append(held_reasons_item)

        replaces: None | str
        replaces = self.replaces

        replaced_by: None | str
        replaced_by = self.replaced_by

        document: dict[str, Any] | None
        if isinstance(self.document, StaffInvoiceDetailDocumentType0):
            document = self.document.to_dict()
        else:
            document = self.document

        tenant = self.tenant

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "number": number,
                "state": state,
                "starts_at": starts_at,
                "ends_at": ends_at,
                "currency": currency,
                "net_minor": net_minor,
                "tax_minor": tax_minor,
                "total_minor": total_minor,
                "credit_minor": credit_minor,
                "payable_minor": payable_minor,
                "outstanding_minor": outstanding_minor,
                "issued_at": issued_at,
                "due_at": due_at,
                "held_reasons": held_reasons,
                "replaces": replaces,
                "replaced_by": replaced_by,
                "document": document,
                "tenant": tenant,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.held_reason import HeldReason  # noqa: PLC0415
        from ..models.staff_invoice_detail_document_type_0 import (
            StaffInvoiceDetailDocumentType0,  # noqa: PLC0415
        )

        d = dict(src_dict)
        id = d.pop("id")

        def _parse_number(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        number = _parse_number(d.pop("number"))

        state = check_invoice_state(d.pop("state"))

        starts_at = datetime.datetime.fromisoformat(d.pop("starts_at"))

        ends_at = datetime.datetime.fromisoformat(d.pop("ends_at"))

        currency = d.pop("currency")

        net_minor = d.pop("net_minor")

        tax_minor = d.pop("tax_minor")

        total_minor = d.pop("total_minor")

        credit_minor = d.pop("credit_minor")

        payable_minor = d.pop("payable_minor")

        outstanding_minor = d.pop("outstanding_minor")

        def _parse_issued_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                issued_at_type_0 = datetime.datetime.fromisoformat(data)

                return issued_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        issued_at = _parse_issued_at(d.pop("issued_at"))

        def _parse_due_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                due_at_type_0 = datetime.datetime.fromisoformat(data)

                return due_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        due_at = _parse_due_at(d.pop("due_at"))

        held_reasons = []
        _held_reasons = d.pop("held_reasons")
        for held_reasons_item_data in _held_reasons:
            held_reasons_item = HeldReason.from_dict(held_reasons_item_data)

            held_reasons.append(held_reasons_item)

        def _parse_replaces(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        replaces = _parse_replaces(d.pop("replaces"))

        def _parse_replaced_by(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        replaced_by = _parse_replaced_by(d.pop("replaced_by"))

        def _parse_document(data: object) -> None | StaffInvoiceDetailDocumentType0:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                document_type_0 = StaffInvoiceDetailDocumentType0.from_dict(data)

                return document_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | StaffInvoiceDetailDocumentType0, data)

        document = _parse_document(d.pop("document"))

        tenant = d.pop("tenant")

        staff_invoice_detail = cls(
            id=id,
            number=number,
            state=state,
            starts_at=starts_at,
            ends_at=ends_at,
            currency=currency,
            net_minor=net_minor,
            tax_minor=tax_minor,
            total_minor=total_minor,
            credit_minor=credit_minor,
            payable_minor=payable_minor,
            outstanding_minor=outstanding_minor,
            issued_at=issued_at,
            due_at=due_at,
            held_reasons=held_reasons,
            replaces=replaces,
            replaced_by=replaced_by,
            document=document,
            tenant=tenant,
        )

        staff_invoice_detail.additional_properties = d
        return staff_invoice_detail

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
