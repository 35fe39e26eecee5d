from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.period_without_invoice import PeriodWithoutInvoice


T = TypeVar("T", bound="PeriodsWithoutInvoice")


@_attrs_define
class PeriodsWithoutInvoice:
    """The periods of the month (its first day) that have no issued invoice.

    `is_complete` is true if there is none. `n_issued` is how many invoices of the month are issued.

        Attributes:
            month (datetime.date):
            is_complete (bool):
            n_issued (int):
            items (list[PeriodWithoutInvoice]):
    """

    month: datetime.date
    is_complete: bool
    n_issued: int
    items: list[PeriodWithoutInvoice]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        month = self.month.isoformat()

        is_complete = self.is_complete

        n_issued = self.n_issued

        items = []
        for items_item_data in self.items:
            items_item = items_item_data.to_dict()
            items.append(items_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "month": month,
                "is_complete": is_complete,
                "n_issued": n_issued,
                "items": items,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.period_without_invoice import PeriodWithoutInvoice  # noqa: PLC0415

        d = dict(src_dict)
        month = datetime.date.fromisoformat(d.pop("month"))

        is_complete = d.pop("is_complete")

        n_issued = d.pop("n_issued")

        items = []
        _items = d.pop("items")
        for items_item_data in _items:
            items_item = PeriodWithoutInvoice.from_dict(items_item_data)

            items.append(items_item)

        periods_without_invoice = cls(
            month=month,
            is_complete=is_complete,
            n_issued=n_issued,
            items=items,
        )

        periods_without_invoice.additional_properties = d
        return periods_without_invoice

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
