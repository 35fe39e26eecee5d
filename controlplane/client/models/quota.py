from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Quota")


@_attrs_define
class Quota:
    """A resource of a tenant: its limit (null: no limit), and how much the tenant uses.

    `used` is `landed` plus `tail`. Of a monthly resource, `landed` is complete up to `as_of`, and
    `tail` is what was counted and is not in `landed` yet. Amounts are in base units, such as
    milliseconds: `base_per_unit` of them are one `unit`, such as an hour. The resource `spend` is
    the spend cap; its `unit` is a currency, and amounts are in minor units. It is there only for
    callers who may see amounts.

        Attributes:
            resource (str):
            title (str):
            limit (int | None):
            used (int):
            landed (int):
            tail (int):
            unit (str): The unit that people read; empty for counted objects.
            base_per_unit (int): How many of the amounts' base units are one `unit`.
            at_quota (str): For a monthly resource: what happens at 100 percent.
            as_of (datetime.datetime | None): For a monthly resource: usage before this time has landed.
    """

    resource: str
    title: str
    limit: int | None
    used: int
    landed: int
    tail: int
    unit: str
    base_per_unit: int
    at_quota: str
    as_of: datetime.datetime | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        resource = self.resource

        title = self.title

        limit: int | None
        limit = self.limit

        used = self.used

        landed = self.landed

        tail = self.tail

        unit = self.unit

        base_per_unit = self.base_per_unit

        at_quota = self.at_quota

        as_of: None | str
        if isinstance(self.as_of, datetime.datetime):
            as_of = self.as_of.isoformat()
        else:
            as_of = self.as_of

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "resource": resource,
                "title": title,
                "limit": limit,
                "used": used,
                "landed": landed,
                "tail": tail,
                "unit": unit,
                "base_per_unit": base_per_unit,
                "at_quota": at_quota,
                "as_of": as_of,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        resource = d.pop("resource")

        title = d.pop("title")

        def _parse_limit(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        limit = _parse_limit(d.pop("limit"))

        used = d.pop("used")

        landed = d.pop("landed")

        tail = d.pop("tail")

        unit = d.pop("unit")

        base_per_unit = d.pop("base_per_unit")

        at_quota = d.pop("at_quota")

        def _parse_as_of(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                as_of_type_0 = datetime.datetime.fromisoformat(data)

                return as_of_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        as_of = _parse_as_of(d.pop("as_of"))

        quota = cls(
            resource=resource,
            title=title,
            limit=limit,
            used=used,
            landed=landed,
            tail=tail,
            unit=unit,
            base_per_unit=base_per_unit,
            at_quota=at_quota,
            as_of=as_of,
        )

        quota.additional_properties = d
        return quota

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
