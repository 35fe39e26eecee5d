from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.figure import Figure
    from ..models.usage_totals import UsageTotals


T = TypeVar("T", bound="Usage")


@_attrs_define
class Usage:
    """The usage in a window, as far as samples taken before `as_of` show it.

    `totals` maps each meter to its quantity over all spaces: a sum, or the largest value of
    `peak_connections`. `as_of` is null before any usage was computed.

        Attributes:
            starts_at (datetime.datetime):
            ends_at (datetime.datetime):
            as_of (datetime.datetime | None):
            totals (UsageTotals):
            items (list[Figure]):
    """

    starts_at: datetime.datetime
    ends_at: datetime.datetime
    as_of: datetime.datetime | None
    totals: UsageTotals
    items: list[Figure]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        starts_at = self.starts_at.isoformat()

        ends_at = self.ends_at.isoformat()

        as_of: None | str
        if isinstance(self.as_of, datetime.datetime):
            as_of = self.as_of.isoformat()
        else:
            as_of = self.as_of

        totals = self.totals.to_dict()

        items = []
        for items_item_data in self.items:
            items_item = items_item_data.to_dict()
            items.append(items_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "starts_at": starts_at,
                "ends_at": ends_at,
                "as_of": as_of,
                "totals": totals,
                "items": items,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.figure import Figure  # noqa: PLC0415
        from ..models.usage_totals import UsageTotals  # noqa: PLC0415

        d = dict(src_dict)
        starts_at = datetime.datetime.fromisoformat(d.pop("starts_at"))

        ends_at = datetime.datetime.fromisoformat(d.pop("ends_at"))

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

        totals = UsageTotals.from_dict(d.pop("totals"))

        items = []
        _items = d.pop("items")
        for items_item_data in _items:
            items_item = Figure.from_dict(items_item_data)

            items.append(items_item)

        usage = cls(
            starts_at=starts_at,
            ends_at=ends_at,
            as_of=as_of,
            totals=totals,
            items=items,
        )

        usage.additional_properties = d
        return usage

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
