from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.credit_kind import CreditKind, check_credit_kind

T = TypeVar("T", bound="Credit")


@_attrs_define
class Credit:
    """Granted credit of a tenant; `left_minor` of it is not used yet.

    Attributes:
        id (str):
        kind (CreditKind): * `promotional` - Promotional
            * `prepaid` - Prepaid
        amount_minor (int):
        left_minor (int):
        currency (str):
        reference (str):
        granted_at (datetime.datetime):
        expires_at (datetime.datetime | None):
    """

    id: str
    kind: CreditKind
    amount_minor: int
    left_minor: int
    currency: str
    reference: str
    granted_at: datetime.datetime
    expires_at: datetime.datetime | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        kind: str = self.kind

        amount_minor = self.amount_minor

        left_minor = self.left_minor

        currency = self.currency

        reference = self.reference

        granted_at = self.granted_at.isoformat()

        expires_at: None | str
        if isinstance(self.expires_at, datetime.datetime):
            expires_at = self.expires_at.isoformat()
        else:
            expires_at = self.expires_at

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "kind": kind,
                "amount_minor": amount_minor,
                "left_minor": left_minor,
                "currency": currency,
                "reference": reference,
                "granted_at": granted_at,
                "expires_at": expires_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = d.pop("id")

        kind = check_credit_kind(d.pop("kind"))

        amount_minor = d.pop("amount_minor")

        left_minor = d.pop("left_minor")

        currency = d.pop("currency")

        reference = d.pop("reference")

        granted_at = datetime.datetime.fromisoformat(d.pop("granted_at"))

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

        credit = cls(
            id=id,
            kind=kind,
            amount_minor=amount_minor,
            left_minor=left_minor,
            currency=currency,
            reference=reference,
            granted_at=granted_at,
            expires_at=expires_at,
        )

        credit.additional_properties = d
        return credit

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
