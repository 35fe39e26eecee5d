from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.refund_kind_enum import RefundKindEnum, check_refund_kind_enum
from ..models.refund_state_enum import RefundStateEnum, check_refund_state_enum

T = TypeVar("T", bound="Refund")


@_attrs_define
class Refund:
    """Money of a payment that went back, or goes back, in minor units of `currency`.

    `credit_minor` of it came from the tenant's credit; `reopened_minor` is due again. A
    `chargeback` is what a lost dispute took.

        Attributes:
            id (str):
            kind (RefundKindEnum): * `refund` - Refund
                * `chargeback` - Chargeback
            state (RefundStateEnum): * `requested` - Requested
                * `pending` - Pending
                * `succeeded` - Succeeded
                * `failed` - Failed
            amount_minor (int):
            credit_minor (int):
            reopened_minor (int):
            currency (str):
            reference (str):
            reason (str):
            requested_at (datetime.datetime):
    """

    id: str
    kind: RefundKindEnum
    state: RefundStateEnum
    amount_minor: int
    credit_minor: int
    reopened_minor: int
    currency: str
    reference: str
    reason: str
    requested_at: datetime.datetime
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        kind: str = self.kind

        state: str = self.state

        amount_minor = self.amount_minor

        credit_minor = self.credit_minor

        reopened_minor = self.reopened_minor

        currency = self.currency

        reference = self.reference

        reason = self.reason

        requested_at = self.requested_at.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "kind": kind,
                "state": state,
                "amount_minor": amount_minor,
                "credit_minor": credit_minor,
                "reopened_minor": reopened_minor,
                "currency": currency,
                "reference": reference,
                "reason": reason,
                "requested_at": requested_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = d.pop("id")

        kind = check_refund_kind_enum(d.pop("kind"))

        state = check_refund_state_enum(d.pop("state"))

        amount_minor = d.pop("amount_minor")

        credit_minor = d.pop("credit_minor")

        reopened_minor = d.pop("reopened_minor")

        currency = d.pop("currency")

        reference = d.pop("reference")

        reason = d.pop("reason")

        requested_at = datetime.datetime.fromisoformat(d.pop("requested_at"))

        refund = cls(
            id=id,
            kind=kind,
            state=state,
            amount_minor=amount_minor,
            credit_minor=credit_minor,
            reopened_minor=reopened_minor,
            currency=currency,
            reference=reference,
            reason=reason,
            requested_at=requested_at,
        )

        refund.additional_properties = d
        return refund

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
