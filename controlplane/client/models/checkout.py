from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Checkout")


@_attrs_define
class Checkout:
    """A page of the payment provider on which the invoice can be paid, until `expires_at`.

    Attributes:
        provider (str):
        url (str):
        amount_minor (int):
        currency (str):
        expires_at (datetime.datetime):
    """

    provider: str
    url: str
    amount_minor: int
    currency: str
    expires_at: datetime.datetime
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        provider = self.provider

        url = self.url

        amount_minor = self.amount_minor

        currency = self.currency

        expires_at = self.expires_at.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "provider": provider,
                "url": url,
                "amount_minor": amount_minor,
                "currency": currency,
                "expires_at": expires_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        provider = d.pop("provider")

        url = d.pop("url")

        amount_minor = d.pop("amount_minor")

        currency = d.pop("currency")

        expires_at = datetime.datetime.fromisoformat(d.pop("expires_at"))

        checkout = cls(
            provider=provider,
            url=url,
            amount_minor=amount_minor,
            currency=currency,
            expires_at=expires_at,
        )

        checkout.additional_properties = d
        return checkout

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
