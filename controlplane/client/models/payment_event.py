from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.payment_event_state_enum import (
    PaymentEventStateEnum,
    check_payment_event_state_enum,
)

T = TypeVar("T", bound="PaymentEvent")


@_attrs_define
class PaymentEvent:
    """An event that a payment provider reported; `message` says why it was refused.

    Attributes:
        id (str):
        provider (str):
        event_id (str):
        kind (str):
        state (PaymentEventStateEnum): * `waiting` - Waiting
            * `applied` - Applied
            * `ignored` - Ignored
            * `refused` - Refused
        message (str):
        invoice (None | str):
        occurred_at (datetime.datetime):
        received_at (datetime.datetime):
    """

    id: str
    provider: str
    event_id: str
    kind: str
    state: PaymentEventStateEnum
    message: str
    invoice: None | str
    occurred_at: datetime.datetime
    received_at: datetime.datetime
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        provider = self.provider

        event_id = self.event_id

        kind = self.kind

        state: str = self.state

        message = self.message

        invoice: None | str
        invoice = self.invoice

        occurred_at = self.occurred_at.isoformat()

        received_at = self.received_at.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "provider": provider,
                "event_id": event_id,
                "kind": kind,
                "state": state,
                "message": message,
                "invoice": invoice,
                "occurred_at": occurred_at,
                "received_at": received_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = d.pop("id")

        provider = d.pop("provider")

        event_id = d.pop("event_id")

        kind = d.pop("kind")

        state = check_payment_event_state_enum(d.pop("state"))

        message = d.pop("message")

        def _parse_invoice(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        invoice = _parse_invoice(d.pop("invoice"))

        occurred_at = datetime.datetime.fromisoformat(d.pop("occurred_at"))

        received_at = datetime.datetime.fromisoformat(d.pop("received_at"))

        payment_event = cls(
            id=id,
            provider=provider,
            event_id=event_id,
            kind=kind,
            state=state,
            message=message,
            invoice=invoice,
            occurred_at=occurred_at,
            received_at=received_at,
        )

        payment_event.additional_properties = d
        return payment_event

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
