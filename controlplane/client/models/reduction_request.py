from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="ReductionRequest")


@_attrs_define
class ReductionRequest:
    """How much cheaper each month gets: either `percent` or `amount_minor`, before tax.

    `meters` are the meters whose lines get cheaper, such as `plan_fee`; empty: all. `months` is for
    how many billing months, the running one included; null: for ever.

        Attributes:
            title (str):
            reason (str):
            percent (None | str | Unset):
            amount_minor (int | None | Unset):
            meters (list[str] | Unset):
            months (int | None | Unset):
    """

    title: str
    reason: str
    percent: None | str | Unset = UNSET
    amount_minor: int | None | Unset = UNSET
    meters: list[str] | Unset = UNSET
    months: int | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        title = self.title

        reason = self.reason

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

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "title": title,
                "reason": reason,
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

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        title = d.pop("title")

        reason = d.pop("reason")

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

        reduction_request = cls(
            title=title,
            reason=reason,
            percent=percent,
            amount_minor=amount_minor,
            meters=meters,
            months=months,
        )

        reduction_request.additional_properties = d
        return reduction_request

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
