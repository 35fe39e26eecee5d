from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Coupon")


@_attrs_define
class Coupon:
    """A coupon, and how many tenants have redeemed it.

    Attributes:
        code (str):
        title (str):
        percent (None | str):
        amount_minor (int | None):
        currency (str):
        meters (list[str]):
        months (int | None):
        limit (int | None):
        expires_at (datetime.datetime | None):
        redeemed (int):
    """

    code: str
    title: str
    percent: None | str
    amount_minor: int | None
    currency: str
    meters: list[str]
    months: int | None
    limit: int | None
    expires_at: datetime.datetime | None
    redeemed: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        code = self.code

        title = self.title

        percent: None | str
        percent = self.percent

        amount_minor: int | None
        amount_minor = self.amount_minor

        currency = self.currency

        meters = self.meters

        months: int | None
        months = self.months

        limit: int | None
        limit = self.limit

        expires_at: None | str
        if isinstance(self.expires_at, datetime.datetime):
            expires_at = self.expires_at.isoformat()
        else:
            expires_at = self.expires_at

        redeemed = self.redeemed

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "code": code,
                "title": title,
                "percent": percent,
                "amount_minor": amount_minor,
                "currency": currency,
                "meters": meters,
                "months": months,
                "limit": limit,
                "expires_at": expires_at,
                "redeemed": redeemed,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        code = d.pop("code")

        title = d.pop("title")

        def _parse_percent(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        percent = _parse_percent(d.pop("percent"))

        def _parse_amount_minor(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        amount_minor = _parse_amount_minor(d.pop("amount_minor"))

        currency = d.pop("currency")

        meters = cast(list[str], d.pop("meters"))

        def _parse_months(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        months = _parse_months(d.pop("months"))

        def _parse_limit(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        limit = _parse_limit(d.pop("limit"))

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

        redeemed = d.pop("redeemed")

        coupon = cls(
            code=code,
            title=title,
            percent=percent,
            amount_minor=amount_minor,
            currency=currency,
            meters=meters,
            months=months,
            limit=limit,
            expires_at=expires_at,
            redeemed=redeemed,
        )

        coupon.additional_properties = d
        return coupon

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
