from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.cost import Cost


T = TypeVar("T", bound="Costs")


@_attrs_define
class Costs:
    """The costs of a month before tax: all amounts together are `net_minor`.

    Without anything priced, `currency` is null and `items` is empty. `is_running`: the month is not
    over, and the costs are those known so far.

        Attributes:
            starts_at (datetime.datetime):
            ends_at (datetime.datetime):
            is_running (bool):
            currency (None | str):
            divided_by (str): The label that divides the costs; empty: by space.
            labels (list[str]): The keys of the labels that spaces have.
            net_minor (int):
            items (list[Cost]):
    """

    starts_at: datetime.datetime
    ends_at: datetime.datetime
    is_running: bool
    currency: None | str
    divided_by: str
    labels: list[str]
    net_minor: int
    items: list[Cost]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        starts_at = self.starts_at.isoformat()

        ends_at = self.ends_at.isoformat()

        is_running = self.is_running

        currency: None | str
        currency = self.currency

        divided_by = self.divided_by

        labels = self.labels

        net_minor = self.net_minor

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
                "is_running": is_running,
                "currency": currency,
                "divided_by": divided_by,
                "labels": labels,
                "net_minor": net_minor,
                "items": items,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.cost import Cost  # noqa: PLC0415

        d = dict(src_dict)
        starts_at = datetime.datetime.fromisoformat(d.pop("starts_at"))

        ends_at = datetime.datetime.fromisoformat(d.pop("ends_at"))

        is_running = d.pop("is_running")

        def _parse_currency(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        currency = _parse_currency(d.pop("currency"))

        divided_by = d.pop("divided_by")

        labels = cast(list[str], d.pop("labels"))

        net_minor = d.pop("net_minor")

        items = []
        _items = d.pop("items")
        for items_item_data in _items:
            items_item = Cost.from_dict(items_item_data)

            items.append(items_item)

        costs = cls(
            starts_at=starts_at,
            ends_at=ends_at,
            is_running=is_running,
            currency=currency,
            divided_by=divided_by,
            labels=labels,
            net_minor=net_minor,
            items=items,
        )

        costs.additional_properties = d
        return costs

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
