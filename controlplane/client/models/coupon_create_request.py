from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="CouponCreateRequest")


@_attrs_define
class CouponCreateRequest:
    """A new coupon; `limit` tenants may redeem it, before `expires_at`. Null: no limit, no end.

    `currency` is the one of `amount_minor`; empty: that of the main seller.

        Attributes:
            title (str):
            reason (str):
            code (str):
            percent (None | str | Unset):
            amount_minor (int | None | Unset):
            meters (list[str] | Unset):
            months (int | None | Unset):
            limit (int | None | Unset):
            expires_at (datetime.datetime | None | Unset):
            currency (str | Unset):
    """

    title: str
    reason: str
    code: str
    percent: None | str | Unset = UNSET
    amount_minor: int | None | Unset = UNSET
    meters: list[str] | Unset = UNSET
    months: int | None | Unset = UNSET
    limit: int | None | Unset = UNSET
    expires_at: datetime.datetime | None | Unset = UNSET
    currency: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        title = self.title

        reason = self.reason

        code = self.code

        percent: None | str | Unset
        if isinstance(self.percent, Unset):
            percent = UNSET
        else:
            percent = self.percent

        amount_minor: int | None | Unset
        if isinstance(self.amount_minor, Unset):
            amount_minor = UNSET
        else:
            amount_minor = self.amount_minor

        meters: list[str] | Unset = UNSET
        if not isinstance(self.meters, Unset):
            meters = self.meters

        months: int | None | Unset
        if isinstance(self.months, Unset):
            months = UNSET
        else:
            months = self.months

        limit: int | None | Unset
        if isinstance(self.limit, Unset):
            limit = UNSET
        else:
            limit = self.limit

        expires_at: None | str | Unset
        if isinstance(self.expires_at, Unset):
            expires_at = UNSET
        elif isinstance(self.expires_at, datetime.datetime):
            expires_at = self.expires_at.isoformat()
        else:
            expires_at = self.expires_at

        currency = self.currency

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "title": title,
                "reason": reason,
                "code": code,
            }
        )
        if percent is not UNSET:
            field_dict["percent"] = percent
        if amount_minor is not UNSET:
            field_dict["amount_minor"] = amount_minor
        if meters is not UNSET:
            field_dict["meters"] = meters
        if months is not UNSET:
            field_dict["months"] = months
        if limit is not UNSET:
            field_dict["limit"] = limit
        if expires_at is not UNSET:
            field_dict["expires_at"] = expires_at
        if currency is not UNSET:
            field_dict["currency"] = currency

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        title = d.pop("title")

        reason = d.pop("reason")

        code = d.pop("code")

        def _parse_percent(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        percent = _parse_percent(d.pop("percent", UNSET))

        def _parse_amount_minor(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        amount_minor = _parse_amount_minor(d.pop("amount_minor", UNSET))

        meters = cast(list[str], d.pop("meters", UNSET))

        def _parse_months(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        months = _parse_months(d.pop("months", UNSET))

        def _parse_limit(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        limit = _parse_limit(d.pop("limit", UNSET))

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

        currency = d.pop("currency", UNSET)

        coupon_create_request = cls(
            title=title,
            reason=reason,
            code=code,
            percent=percent,
            amount_minor=amount_minor,
            meters=meters,
            months=months,
            limit=limit,
            expires_at=expires_at,
            currency=currency,
        )

        coupon_create_request.additional_properties = d
        return coupon_create_request

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
