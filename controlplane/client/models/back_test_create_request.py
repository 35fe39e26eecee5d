from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.back_test_source import BackTestSource, check_back_test_source
from ..types import UNSET, Unset

T = TypeVar("T", bound="BackTestCreateRequest")


@_attrs_define
class BackTestCreateRequest:
    """How many ended billing months to rate, and where their `usage` is read.

    `copy` is the copy of usage in the database, which is quick for one month. `lakehouse` sums gold
    by Spark and stores the result in the table `gold.backtest`, too.

        Attributes:
            months (int | Unset):
            usage (BackTestSource | Unset): * `copy` - Copy
                * `lakehouse` - Lakehouse
    """

    months: int | Unset = UNSET
    usage: BackTestSource | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        months = self.months

        usage: str | Unset = UNSET
        if not isinstance(self.usage, Unset):
            usage = self.usage

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if months is not UNSET:
            field_dict["months"] = months
        if usage is not UNSET:
            field_dict["usage"] = usage

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        months = d.pop("months", UNSET)

        _usage = d.pop("usage", UNSET)
        usage: BackTestSource | Unset
        if isinstance(_usage, Unset):
            usage = UNSET
        else:
            usage = check_back_test_source(_usage)

        back_test_create_request = cls(
            months=months,
            usage=usage,
        )

        back_test_create_request.additional_properties = d
        return back_test_create_request

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
