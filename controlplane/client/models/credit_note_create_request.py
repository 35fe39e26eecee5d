from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.credit_line_request import CreditLineRequest


T = TypeVar("T", bound="CreditNoteCreateRequest")


@_attrs_define
class CreditNoteCreateRequest:
    """The lines to take back, each once, and the reason, which the credit note prints.

    Attributes:
        reason (str):
        lines (list[CreditLineRequest]):
    """

    reason: str
    lines: list[CreditLineRequest]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        reason = self.reason

        lines = []
        for lines_item_data in self.lines:
            lines_item = lines_item_data.to_dict()
            lines.append(lines_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "reason": reason,
                "lines": lines,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.credit_line_request import CreditLineRequest  # noqa: PLC0415

        d = dict(src_dict)
        reason = d.pop("reason")

        lines = []
        _lines = d.pop("lines")
        for lines_item_data in _lines:
            lines_item = CreditLineRequest.from_dict(lines_item_data)

            lines.append(lines_item)

        credit_note_create_request = cls(
            reason=reason,
            lines=lines,
        )

        credit_note_create_request.additional_properties = d
        return credit_note_create_request

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
