from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="RefundCreateRequest")


@_attrs_define
class RefundCreateRequest:
    """A refund: the part of a payment that goes back, in minor units of its currency.

    The tenant's credit pays the refund first. A refund above the credit is refused, unless
    `reopens` is true: then the rest is due again. `reference` is that of the bank, if staff sent
    the money back. Without it the provider of the payment sends the money.

        Attributes:
            amount_minor (int):
            reason (str):
            reopens (bool | Unset):
            reference (str | Unset):
    """

    amount_minor: int
    reason: str
    reopens: bool | Unset = UNSET
    reference: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        amount_minor = self.amount_minor

        reason = self.reason

        reopens = self.reopens

        reference = self.reference

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "amount_minor": amount_minor,
                "reason": reason,
            }
        )
        if reopens is not UNSET:
            field_dict["reopens"] = reopens
        if reference is not UNSET:
            field_dict["reference"] = reference

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        amount_minor = d.pop("amount_minor")

        reason = d.pop("reason")

        reopens = d.pop("reopens", UNSET)

        reference = d.pop("reference", UNSET)

        refund_create_request = cls(
            amount_minor=amount_minor,
            reason=reason,
            reopens=reopens,
            reference=reference,
        )

        refund_create_request.additional_properties = d
        return refund_create_request

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
