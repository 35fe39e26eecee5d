from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.severity_enum import SeverityEnum, check_severity_enum

T = TypeVar("T", bound="NotificationKind")


@_attrs_define
class NotificationKind:
    """One kind of event. `roles` get it by mail unless the tenant or a member chose otherwise.

    `needs` is the permission without which nobody gets it, or has it sent to a channel.

        Attributes:
            key (str):
            title (str):
            meaning (str):
            severity (SeverityEnum): * `info` - info
                * `warning` - warning
                * `critical` - critical
            needs (str):
            roles (list[str]): Return the roles in a stable order.
            is_required (bool):
            sample (Any): Example values of the fields that webhooks send.
    """

    key: str
    title: str
    meaning: str
    severity: SeverityEnum
    needs: str
    roles: list[str]
    is_required: bool
    sample: Any
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        key = self.key

        title = self.title

        meaning = self.meaning

        severity: str = self.severity

        needs = self.needs

        roles = self.roles

        is_required = self.is_required

        sample = self.sample

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "key": key,
                "title": title,
                "meaning": meaning,
                "severity": severity,
                "needs": needs,
                "roles": roles,
                "is_required": is_required,
                "sample": sample,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        key = d.pop("key")

        title = d.pop("title")

        meaning = d.pop("meaning")

        severity = check_severity_enum(d.pop("severity"))

        needs = d.pop("needs")

        roles = cast(list[str], d.pop("roles"))

        is_required = d.pop("is_required")

        sample = d.pop("sample")

        notification_kind = cls(
            key=key,
            title=title,
            meaning=meaning,
            severity=severity,
            needs=needs,
            roles=roles,
            is_required=is_required,
            sample=sample,
        )

        notification_kind.additional_properties = d
        return notification_kind

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
