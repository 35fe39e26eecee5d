from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.dispute import Dispute
    from ..models.refund import Refund


T = TypeVar("T", bound="TenantPayment")


@_attrs_define
class TenantPayment:
    """A payment, in minor units of `currency`; `credit_minor` of it exceeded what was due.

    Attributes:
        id (int):
        invoice (str):
        amount_minor (int):
        credit_minor (int):
        currency (str):
        received_on (datetime.date):
        source (str):
        reference (str):
        refunds (list[Refund]):
        disputes (list[Dispute]):
    """

    id: int
    invoice: str
    amount_minor: int
    credit_minor: int
    currency: str
    received_on: datetime.date
    source: str
    reference: str
    refunds: list[Refund]
    disputes: list[Dispute]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        invoice = self.invoice

        amount_minor = self.amount_minor

        credit_minor = self.credit_minor

        currency = self.currency

        received_on = self.received_on.isoformat()

        source = self.source

        reference = self.reference

        refunds = []
        for refunds_item_data in self.refunds:
            refunds_item = refunds_item_data.to_dict()
            refunds.append(refunds_item)

        disputes = []
        for disputes_item_data in self.disputes:
            disputes_item = disputes_item_data.to_dict()
            disputes.append(disputes_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "invoice": invoice,
                "amount_minor": amount_minor,
                "credit_minor": credit_minor,
                "currency": currency,
                "received_on": received_on,
                "source": source,
                "reference": reference,
                "refunds": refunds,
                "disputes": disputes,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.dispute import Dispute  # noqa: PLC0415
        from ..models.refund import Refund  # noqa: PLC0415

        d = dict(src_dict)
        id = d.pop("id")

        invoice = d.pop("invoice")

        amount_minor = d.pop("amount_minor")

        credit_minor = d.pop("credit_minor")

        currency = d.pop("currency")

        received_on = datetime.date.fromisoformat(d.pop("received_on"))

        source = d.pop("source")

        reference = d.pop("reference")

        refunds = []
        _refunds = d.pop("refunds")
        for refunds_item_data in _refunds:
            refunds_item = Refund.from_dict(refunds_item_data)

            refunds.append(refunds_item)

        disputes = []
        _disputes = d.pop("disputes")
        for disputes_item_data in _disputes:
            disputes_item = Dispute.from_dict(disputes_item_data)

            disputes.append(disputes_item)

        tenant_payment = cls(
            id=id,
            invoice=invoice,
            amount_minor=amount_minor,
            credit_minor=credit_minor,
            currency=currency,
            received_on=received_on,
            source=source,
            reference=reference,
            refunds=refunds,
            disputes=disputes,
        )

        tenant_payment.additional_properties = d
        return tenant_payment

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
