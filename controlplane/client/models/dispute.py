from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.dispute_state_enum import DisputeStateEnum, check_dispute_state_enum

T = TypeVar("T", bound="Dispute")


@_attrs_define
class Dispute:
    """A dispute: the payer's bank takes the payment back, unless the operator wins the dispute.

    Attributes:
        reference (str):
        state (DisputeStateEnum): * `open` - Open
            * `won` - Won
            * `lost` - Lost
        amount_minor (int):
        reason (str):
        opened_at (datetime.datetime):
    """

    reference: str
    state: DisputeStateEnum
    amount_minor: int
    reason: str
    opened_at: datetime.datetime
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        reference = self.reference

        state: str = self.state

        amount_minor = self.amount_minor

        reason = self.reason

        opened_at = self.opened_at.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "reference": reference,
                "state": state,
                "amount_minor": amount_minor,
                "reason": reason,
                "opened_at": opened_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        reference = d.pop("reference")

        state = check_dispute_state_enum(d.pop("state"))

        amount_minor = d.pop("amount_minor")

        reason = d.pop("reason")

        opened_at = datetime.datetime.fromisoformat(d.pop("opened_at"))

        dispute = cls(
            reference=reference,
            state=state,
            amount_minor=amount_minor,
            reason=reason,
            opened_at=opened_at,
        )

        dispute.additional_properties = d
        return dispute

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
