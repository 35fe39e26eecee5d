from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.rate_sum import RateSum
    from ..models.reverse_charge_customer import ReverseChargeCustomer


T = TypeVar("T", bound="TaxReport")


@_attrs_define
class TaxReport:
    """The taxes of the months from `first` to `last`, which are first days of months.

    `disagreements` name each month whose tax in the ledger is another one: normally none.

        Attributes:
            first (datetime.date):
            last (datetime.date):
            items (list[RateSum]):
            reverse_charge (list[ReverseChargeCustomer]):
            disagreements (list[str]):
    """

    first: datetime.date
    last: datetime.date
    items: list[RateSum]
    reverse_charge: list[ReverseChargeCustomer]
    disagreements: list[str]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        first = self.first.isoformat()

        last = self.last.isoformat()

        items = []
        for items_item_data in self.items:
            items_item = items_item_data.to_dict()
            items.append(items_item)

        reverse_charge = []
        for reverse_charge_item_data in self.reverse_charge:
            reverse_charge_item = reverse_charge_item_data.to_dict()
            reverse_charge.append(reverse_charge_item)

        disagreements = self.disagreements

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "first": first,
                "last": last,
                "items": items,
                "reverse_charge": reverse_charge,
                "disagreements": disagreements,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.rate_sum import RateSum  # noqa: PLC0415
        from ..models.reverse_charge_customer import ReverseChargeCustomer  # noqa: PLC0415

        d = dict(src_dict)
        first = datetime.date.fromisoformat(d.pop("first"))

        last = datetime.date.fromisoformat(d.pop("last"))

        items = []
        _items = d.pop("items")
        for items_item_data in _items:
            items_item = RateSum.from_dict(items_item_data)

            items.append(items_item)

        reverse_charge = []
        _reverse_charge = d.pop("reverse_charge")
        for reverse_charge_item_data in _reverse_charge:
            reverse_charge_item = ReverseChargeCustomer.from_dict(reverse_charge_item_data)

            reverse_charge.append(reverse_charge_item)

        disagreements = cast(list[str], d.pop("disagreements"))

        tax_report = cls(
            first=first,
            last=last,
            items=items,
            reverse_charge=reverse_charge,
            disagreements=disagreements,
        )

        tax_report.additional_properties = d
        return tax_report

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
