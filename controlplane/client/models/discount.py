from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="Discount")


@_attrs_define
class Discount:
    """A discount of a tenant. It counts for each billing month that its time overlaps.

    Attributes:
        id (str):
        title (str):
        percent (None | str):
        amount_minor (int | None):
        currency (str):
        meters (list[str]):
        starts_at (datetime.datetime):
        ends_at (datetime.datetime | None):
        coupon (None | str | Unset):
    """

    id: str
    title: str
    percent: None | str
    amount_minor: int | None
    currency: str
    meters: list[str]
    starts_at: datetime.datetime
    ends_at: datetime.datetime | None
    coupon: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        title = self.title

        percent: None | str
        percent = self.percent

        amount_minor: int | None
        amount_minor = self.amount_minor

        currency = self.currency

        meters = self.meters

        starts_at = self.starts_at.isoformat()

        ends_at: None | str
        if isinstance(self.ends_at, datetime.datetime):
            ends_at = self.ends_at.isoformat()
        else:
            ends_at = self.ends_at

        coupon: None | str | Unset
        if isinstance(self.coupon, Unset):
            coupon = UNSET
        else:
            coupon = self.coupon

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "title": title,
                "percent": percent,
                "amount_minor": amount_minor,
                "currency": currency,
                "meters": meters,
                "starts_at": starts_at,
                "ends_at": ends_at,
            }
        )
        if coupon is not UNSET:
            field_dict["coupon"] = coupon

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = d.pop("id")

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

        starts_at = datetime.datetime.fromisoformat(d.pop("starts_at"))

        def _parse_ends_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                ends_at_type_0 = datetime.datetime.fromisoformat(data)

                return ends_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        ends_at = _parse_ends_at(d.pop("ends_at"))

        def _parse_coupon(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        coupon = _parse_coupon(d.pop("coupon", UNSET))

        discount = cls(
            id=id,
            title=title,
            percent=percent,
            amount_minor=amount_minor,
            currency=currency,
            meters=meters,
            starts_at=starts_at,
            ends_at=ends_at,
            coupon=coupon,
        )

        discount.additional_properties = d
        return discount

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
