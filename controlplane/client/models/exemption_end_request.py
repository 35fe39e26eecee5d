from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="ExemptionEndRequest")


@_attrs_define
class ExemptionEndRequest:
    """The last day of a certificate, and why it ends.

    If `ends_on` is the day before its first day, the certificate never counts.

        Attributes:
            ends_on (datetime.date):
            reason (str):
    """

    ends_on: datetime.date
    reason: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        ends_on = self.ends_on.isoformat()

        reason = self.reason

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "ends_on": ends_on,
                "reason": reason,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        ends_on = datetime.date.fromisoformat(d.pop("ends_on"))

        reason = d.pop("reason")

        exemption_end_request = cls(
            ends_on=ends_on,
            reason=reason,
        )

        exemption_end_request.additional_properties = d
        return exemption_end_request

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
