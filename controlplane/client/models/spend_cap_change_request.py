from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.action_enum import ActionEnum, check_action_enum

T = TypeVar("T", bound="SpendCapChangeRequest")


@_attrs_define
class SpendCapChangeRequest:
    """A cap in minor units of the plan's currency, tax included, and what it does.

    The month's fee counts from its first day.

        Attributes:
            amount_minor (int):
            action (ActionEnum): * `notify` - notify
                * `throttle` - throttle
                * `withdraw_send` - withdraw_send
                * `refuse_connections` - refuse_connections
    """

    amount_minor: int
    action: ActionEnum
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        amount_minor = self.amount_minor

        action: str = self.action

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "amount_minor": amount_minor,
                "action": action,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        amount_minor = d.pop("amount_minor")

        action = check_action_enum(d.pop("action"))

        spend_cap_change_request = cls(
            amount_minor=amount_minor,
            action=action,
        )

        spend_cap_change_request.additional_properties = d
        return spend_cap_change_request

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
