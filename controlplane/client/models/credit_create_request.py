from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.credit_kind import CreditKind, check_credit_kind
from ..types import UNSET, Unset

T = TypeVar("T", bound="CreditCreateRequest")


@_attrs_define
class CreditCreateRequest:
    """Credit to grant, in minor units; `reference` identifies it, such as the bank's reference.

    Attributes:
        kind (CreditKind): * `promotional` - Promotional
            * `prepaid` - Prepaid
        amount_minor (int):
        reference (str):
        reason (str):
        expires_at (datetime.datetime | None | Unset):
    """

    kind: CreditKind
    amount_minor: int
    reference: str
    reason: str
    expires_at: datetime.datetime | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        kind: str = self.kind

        amount_minor = self.amount_minor

        reference = self.reference

        reason = self.reason

        expires_at: None | str | Unset
        if isinstance(self.expires_at, Unset):
            expires_at = UNSET
        elif isinstance(self.expires_at, datetime.datetime):
            expires_at = self.expires_at.isoformat()
        else:
            expires_at = self.expires_at

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "kind": kind,
                "amount_minor": amount_minor,
                "reference": reference,
                "reason": reason,
            }
        )
        if expires_at is not UNSET:
            field_dict["expires_at"] = expires_at

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        kind = check_credit_kind(d.pop("kind"))

        amount_minor = d.pop("amount_minor")

        reference = d.pop("reference")

        reason = d.pop("reason")

        def _parse_expires_at(data: object) -> datetime.datetime | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                expires_at_type_0 = datetime.datetime.fromisoformat(data)

                return expires_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None | Unset, data)

        expires_at = _parse_expires_at(d.pop("expires_at", UNSET))

        credit_create_request = cls(
            kind=kind,
            amount_minor=amount_minor,
            reference=reference,
            reason=reason,
            expires_at=expires_at,
        )

        credit_create_request.additional_properties = d
        return credit_create_request

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
