from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.deferred_month import DeferredMonth


T = TypeVar("T", bound="DeferredRevenue")


@_attrs_define
class DeferredRevenue:
    """The months, and where the ledger and the documents disagree: normally nowhere.

    Attributes:
        items (list[DeferredMonth]):
        disagreements (list[str]):
    """

    items: list[DeferredMonth]
    disagreements: list[str]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        items = []
        for items_item_data in self.items:
            items_item = items_item_data.to_dict()
            items.append(items_item)

        disagreements = self.disagreements

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "items": items,
                "disagreements": disagreements,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.deferred_month import DeferredMonth  # noqa: PLC0415

        d = dict(src_dict)
        items = []
        _items = d.pop("items")
        for items_item_data in _items:
            items_item = DeferredMonth.from_dict(items_item_data)

            items.append(items_item)

        disagreements = cast(list[str], d.pop("disagreements"))

        deferred_revenue = cls(
            items=items,
            disagreements=disagreements,
        )

        deferred_revenue.additional_properties = d
        return deferred_revenue

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
