from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.journal_line import JournalLine


T = TypeVar("T", bound="Journal")


@_attrs_define
class Journal:
    """Lines in the order of their ids, whole entries only; empty if nothing is new.

    Attributes:
        items (list[JournalLine]):
        last_posting_id (int): Send it as `after` the next time.
    """

    items: list[JournalLine]
    last_posting_id: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        items = []
        for items_item_data in self.items:
            items_item = items_item_data.to_dict()
            items.append(items_item)

        last_posting_id = self.last_posting_id

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "items": items,
                "last_posting_id": last_posting_id,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.journal_line import JournalLine  # noqa: PLC0415

        d = dict(src_dict)
        items = []
        _items = d.pop("items")
        for items_item_data in _items:
            items_item = JournalLine.from_dict(items_item_data)

            items.append(items_item)

        last_posting_id = d.pop("last_posting_id")

        journal = cls(
            items=items,
            last_posting_id=last_posting_id,
        )

        journal.additional_properties = d
        return journal

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
