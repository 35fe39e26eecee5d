from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="ReplacementCreateRequest")


@_attrs_define
class ReplacementCreateRequest:
    """Why the invoice is replaced, which the credit note prints.

    With `confirmed`, the `sha256` of a preview, the request is refused (409) if the billing details
    or the tax have changed since.

        Attributes:
            reason (str):
            confirmed (str | Unset):
    """

    reason: str
    confirmed: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        reason = self.reason

        confirmed = self.confirmed

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "reason": reason,
            }
        )
        if confirmed is not UNSET:
            field_dict["confirmed"] = confirmed

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        reason = d.pop("reason")

        confirmed = d.pop("confirmed", UNSET)

        replacement_create_request = cls(
            reason=reason,
            confirmed=confirmed,
        )

        replacement_create_request.additional_properties = d
        return replacement_create_request

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
