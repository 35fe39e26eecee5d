from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.preview_document import PreviewDocument


T = TypeVar("T", bound="Preview")


@_attrs_define
class Preview:
    """The cost of the running period so far, priced as an invoice, in minor units.

    Usage is known up to `as_of`, which is null before any usage was computed.

        Attributes:
            starts_at (datetime.datetime):
            ends_at (datetime.datetime):
            as_of (datetime.datetime | None):
            total_minor (int):
            credit_minor (int): All credit that can pay the invoice of this period: from earlier invoices, and granted
                credit that does not expire before the end of the period.
            document (PreviewDocument):
    """

    starts_at: datetime.datetime
    ends_at: datetime.datetime
    as_of: datetime.datetime | None
    total_minor: int
    credit_minor: int
    document: PreviewDocument
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        starts_at = self.starts_at.isoformat()

        ends_at = self.ends_at.isoformat()

        as_of: None | str
        if isinstance(self.as_of, datetime.datetime):
            as_of = self.as_of.isoformat()
        else:
            as_of = self.as_of

        total_minor = self.total_minor

        credit_minor = self.credit_minor

        document = self.document.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "starts_at": starts_at,
                "ends_at": ends_at,
                "as_of": as_of,
                "total_minor": total_minor,
                "credit_minor": credit_minor,
                "document": document,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.preview_document import PreviewDocument  # noqa: PLC0415

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

        total_minor = d.pop("total_minor")

        credit_minor = d.pop("credit_minor")

        document = PreviewDocument.from_dict(d.pop("document"))

        preview = cls(
            starts_at=starts_at,
            ends_at=ends_at,
            as_of=as_of,
            total_minor=total_minor,
            credit_minor=credit_minor,
            document=document,
        )

        preview.additional_properties = d
        return preview

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
