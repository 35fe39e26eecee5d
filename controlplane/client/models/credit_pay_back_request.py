from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="CreditPayBackRequest")


@_attrs_define
class CreditPayBackRequest:
    """Prepaid credit to pay back, in minor units; `reference` is that of your bank transfer.

    Attributes:
        amount_minor (int):
        reference (str):
        reason (str):
    """

    amount_minor: int
    reference: str
    reason: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        amount_minor = self.amount_minor

        reference = self.reference

        reason = self.reason

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "amount_minor": amount_minor,
                "reference": reference,
                "reason": reason,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        amount_minor = d.pop("amount_minor")

        reference = d.pop("reference")

        reason = d.pop("reason")

        credit_pay_back_request = cls(
            amount_minor=amount_minor,
            reference=reference,
            reason=reason,
        )

        credit_pay_back_request.additional_properties = d
        return credit_pay_back_request

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
