from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.bulk_addresses_request_items_item import BulkAddressesRequestItemsItem


T = TypeVar("T", bound="BulkAddressesRequest")


@_attrs_define
class BulkAddressesRequest:
    """Addresses to create, in this order: a topic stands before its subscriptions.

    Attributes:
        items (list[BulkAddressesRequestItemsItem]):
    """

    items: list[BulkAddressesRequestItemsItem]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        items = []
        for items_item_data in self.items:
            items_item = items_item_data.to_dict()
            items.append(items_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "items": items,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.bulk_addresses_request_items_item import (
            BulkAddressesRequestItemsItem,  # noqa: PLC0415
        )

        d = dict(src_dict)
        items = []
        _items = d.pop("items")
        for items_item_data in _items:
            items_item = BulkAddressesRequestItemsItem.from_dict(items_item_data)

            items.append(items_item)

        bulk_addresses_request = cls(
            items=items,
        )

        bulk_addresses_request.additional_properties = d
        return bulk_addresses_request

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
