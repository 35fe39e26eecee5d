from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.change_part import ChangePart
    from ..models.side import Side


T = TypeVar("T", bound="InvoiceChange")


@_attrs_define
class InvoiceChange:
    """Why an invoice asks for another amount than an earlier one, in minor units of `currency`.

    The amounts of `parts` add up to `difference_minor` exactly.

        Attributes:
            older (Side): One of two compared invoices; `id` and `number` are empty for the running period.
            newer (Side): One of two compared invoices; `id` and `number` are empty for the running period.
            currency (str):
            difference_minor (int):
            parts (list[ChangePart]):
    """

    older: Side
    newer: Side
    currency: str
    difference_minor: int
    parts: list[ChangePart]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        older = self.older.to_dict()

        newer = self.newer.to_dict()

        currency = self.currency

        difference_minor = self.difference_minor

        parts = []
        for parts_item_data in self.parts:
            parts_item = parts_item_data.to_dict()
            parts.append(parts_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "older": older,
                "newer": newer,
                "currency": currency,
                "difference_minor": difference_minor,
                "parts": parts,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.change_part import ChangePart  # noqa: PLC0415
        from ..models.side import Side  # noqa: PLC0415

        d = dict(src_dict)
        older = Side.from_dict(d.pop("older"))

        newer = Side.from_dict(d.pop("newer"))

        currency = d.pop("currency")

        difference_minor = d.pop("difference_minor")

        parts = []
        _parts = d.pop("parts")
        for parts_item_data in _parts:
            parts_item = ChangePart.from_dict(parts_item_data)

            parts.append(parts_item)

        invoice_change = cls(
            older=older,
            newer=newer,
            currency=currency,
            difference_minor=difference_minor,
            parts=parts,
        )

        invoice_change.additional_properties = d
        return invoice_change

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
