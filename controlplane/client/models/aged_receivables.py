from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.debt import Debt
    from ..models.tenant_debt import TenantDebt


T = TypeVar("T", bound="AgedReceivables")


@_attrs_define
class AgedReceivables:
    """The debts of a day (UTC), and their sums by legal entity and currency.

    Of each legal entity and currency, the tenant with the largest overdue amount comes first.

        Attributes:
            as_of (datetime.date):
            items (list[TenantDebt]):
            sums (list[Debt]):
    """

    as_of: datetime.date
    items: list[TenantDebt]
    sums: list[Debt]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        as_of = self.as_of.isoformat()

        items = []
        for items_item_data in self.items:
            items_item = items_item_data.to_dict()
            items.append(items_item)

        sums = []
        for sums_item_data in self.sums:
            sums_item = sums_item_data.to_dict()
            sums.append(sums_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "as_of": as_of,
                "items": items,
                "sums": sums,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.debt import Debt  # noqa: PLC0415
        from ..models.tenant_debt import TenantDebt  # noqa: PLC0415

        d = dict(src_dict)
        as_of = datetime.date.fromisoformat(d.pop("as_of"))

        items = []
        _items = d.pop("items")
        for items_item_data in _items:
            items_item = TenantDebt.from_dict(items_item_data)

            items.append(items_item)

        sums = []
        _sums = d.pop("sums")
        for sums_item_data in _sums:
            sums_item = Debt.from_dict(sums_item_data)

            sums.append(sums_item)

        aged_receivables = cls(
            as_of=as_of,
            items=items,
            sums=sums,
        )

        aged_receivables.additional_properties = d
        return aged_receivables

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
