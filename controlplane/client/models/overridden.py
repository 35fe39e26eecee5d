from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.resource_enum import ResourceEnum, check_resource_enum

T = TypeVar("T", bound="Overridden")


@_attrs_define
class Overridden:
    """An override of one limit. It is in force until `expires_at`; null: until it is removed.

    Attributes:
        resource (ResourceEnum): * `spaces` - spaces
            * `addresses` - addresses
            * `users` - users
            * `brokers` - brokers
            * `members` - members
            * `api_tokens` - api_tokens
            * `messages_per_month` - messages_per_month
            * `messages_in_per_month` - messages_in_per_month
            * `messages_out_per_month` - messages_out_per_month
            * `connections_opened_per_month` - connections_opened_per_month
            * `connection_ms_per_month` - connection_ms_per_month
            * `stored_byte_ms_per_month` - stored_byte_ms_per_month
            * `bytes_per_month` - bytes_per_month
            * `bytes_in_per_month` - bytes_in_per_month
            * `bytes_out_per_month` - bytes_out_per_month
            * `steps_64k_per_month` - steps_64k_per_month
            * `steps_64k_in_per_month` - steps_64k_in_per_month
            * `steps_64k_out_per_month` - steps_64k_out_per_month
            * `peak_connections_per_month` - peak_connections_per_month
            * `space_hours_per_month` - space_hours_per_month
            * `address_hours_per_month` - address_hours_per_month
        amount (int):
        reason (str):
        expires_at (datetime.datetime | None):
        set_by (str):
    """

    resource: ResourceEnum
    amount: int
    reason: str
    expires_at: datetime.datetime | None
    set_by: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        resource: str = self.resource

        amount = self.amount

        reason = self.reason

        expires_at: None | str
        if isinstance(self.expires_at, datetime.datetime):
            expires_at = self.expires_at.isoformat()
        else:
            expires_at = self.expires_at

        set_by = self.set_by

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "resource": resource,
                "amount": amount,
                "reason": reason,
                "expires_at": expires_at,
                "set_by": set_by,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        resource = check_resource_enum(d.pop("resource"))

        amount = d.pop("amount")

        reason = d.pop("reason")

        def _parse_expires_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                expires_at_type_0 = datetime.datetime.fromisoformat(data)

                return expires_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        expires_at = _parse_expires_at(d.pop("expires_at"))

        set_by = d.pop("set_by")

        overridden = cls(
            resource=resource,
            amount=amount,
            reason=reason,
            expires_at=expires_at,
            set_by=set_by,
        )

        overridden.additional_properties = d
        return overridden

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
