from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.period_without_invoice_state_enum import (
    PeriodWithoutInvoiceStateEnum,
    check_period_without_invoice_state_enum,
)

if TYPE_CHECKING:
    from ..models.held_reason import HeldReason


T = TypeVar("T", bound="PeriodWithoutInvoice")


@_attrs_define
class PeriodWithoutInvoice:
    """A period in which a tenant had a plan, and that has no issued invoice; `tenant` is the slug.

    `invoice` is the id of the invoice that is not issued yet; null if there is none. Then `state`
    is `running` before the period ends, `in_grace` before `due_at`, `due` from then on, and
    `skipped` if a close run could not close the period. Otherwise it is the state of the invoice.

        Attributes:
            tenant (str):
            tenant_name (str):
            starts_at (datetime.datetime):
            ends_at (datetime.datetime):
            due_at (datetime.datetime):
            state (PeriodWithoutInvoiceStateEnum): * `held` - held
                * `skipped` - skipped
                * `due` - due
                * `open` - open
                * `closing` - closing
                * `draft` - draft
                * `approved` - approved
                * `in_grace` - in_grace
                * `running` - running
            invoice (None | str):
            reasons (list[HeldReason]):
            next_step (str):
    """

    tenant: str
    tenant_name: str
    starts_at: datetime.datetime
    ends_at: datetime.datetime
    due_at: datetime.datetime
    state: PeriodWithoutInvoiceStateEnum
    invoice: None | str
    reasons: list[HeldReason]
    next_step: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        tenant = self.tenant

        tenant_name = self.tenant_name

        starts_at = self.starts_at.isoformat()

        ends_at = self.ends_at.isoformat()

        due_at = self.due_at.isoformat()

        state: str = self.state

        invoice: None | str
        invoice = self.invoice

        reasons = []
        for reasons_item_data in self.reasons:
            reasons_item = reasons_item_data.to_dict()
            reasons.append(reasons_item)

        next_step = self.next_step

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "tenant": tenant,
                "tenant_name": tenant_name,
                "starts_at": starts_at,
                "ends_at": ends_at,
                "due_at": due_at,
                "state": state,
                "invoice": invoice,
                "reasons": reasons,
                "next_step": next_step,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.held_reason import HeldReason  # noqa: PLC0415

        d = dict(src_dict)
        tenant = d.pop("tenant")

        tenant_name = d.pop("tenant_name")

        starts_at = datetime.datetime.fromisoformat(d.pop("starts_at"))

        ends_at = datetime.datetime.fromisoformat(d.pop("ends_at"))

        due_at = datetime.datetime.fromisoformat(d.pop("due_at"))

        state = check_period_without_invoice_state_enum(d.pop("state"))

        def _parse_invoice(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        invoice = _parse_invoice(d.pop("invoice"))

        reasons = []
        _reasons = d.pop("reasons")
        for reasons_item_data in _reasons:
            reasons_item = HeldReason.from_dict(reasons_item_data)

            reasons.append(reasons_item)

        next_step = d.pop("next_step")

        period_without_invoice = cls(
            tenant=tenant,
            tenant_name=tenant_name,
            starts_at=starts_at,
            ends_at=ends_at,
            due_at=due_at,
            state=state,
            invoice=invoice,
            reasons=reasons,
            next_step=next_step,
        )

        period_without_invoice.additional_properties = d
        return period_without_invoice

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
