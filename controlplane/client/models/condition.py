from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.status_enum import StatusEnum, check_status_enum

T = TypeVar("T", bound="Condition")


@_attrs_define
class Condition:
    """One observed fact about a space, an address or a user.

    Attributes:
        type_ (str):
        status (StatusEnum): * `True` - True
            * `False` - False
            * `Unknown` - Unknown
        reason (str):
        message (str):
        detail (str): What the platform reports, for staff; empty for everybody else.
        since (datetime.datetime):
    """

    type_: str
    status: StatusEnum
    reason: str
    message: str
    detail: str
    since: datetime.datetime
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_

        status: str = self.status

        reason = self.reason

        message = self.message

        detail = self.detail

        since = self.since.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "type": type_,
                "status": status,
                "reason": reason,
                "message": message,
                "detail": detail,
                "since": since,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        type_ = d.pop("type")

        status = check_status_enum(d.pop("status"))

        reason = d.pop("reason")

        message = d.pop("message")

        detail = d.pop("detail")

        since = datetime.datetime.fromisoformat(d.pop("since"))

        condition = cls(
            type_=type_,
            status=status,
            reason=reason,
            message=message,
            detail=detail,
            since=since,
        )

        condition.additional_properties = d
        return condition

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
