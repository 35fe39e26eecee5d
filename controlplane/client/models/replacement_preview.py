from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.replacement_preview_document import ReplacementPreviewDocument


T = TypeVar("T", bound="ReplacementPreview")


@_attrs_define
class ReplacementPreview:
    """What the replacement of an invoice would be; amounts are in minor units of `currency`.

    Attributes:
        currency (str):
        net_minor (int):
        tax_minor (int):
        total_minor (int):
        document (ReplacementPreviewDocument):
        sha256 (str): Of the document. Send it as `confirmed` to replace the invoice by this one only.
    """

    currency: str
    net_minor: int
    tax_minor: int
    total_minor: int
    document: ReplacementPreviewDocument
    sha256: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        currency = self.currency

        net_minor = self.net_minor

        tax_minor = self.tax_minor

        total_minor = self.total_minor

        document = self.document.to_dict()

        sha256 = self.sha256

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "currency": currency,
                "net_minor": net_minor,
                "tax_minor": tax_minor,
                "total_minor": total_minor,
                "document": document,
                "sha256": sha256,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.replacement_preview_document import ReplacementPreviewDocument  # noqa: PLC0415

        d = dict(src_dict)
        currency = d.pop("currency")

        net_minor = d.pop("net_minor")

        tax_minor = d.pop("tax_minor")

        total_minor = d.pop("total_minor")

        document = ReplacementPreviewDocument.from_dict(d.pop("document"))

        sha256 = d.pop("sha256")

        replacement_preview = cls(
            currency=currency,
            net_minor=net_minor,
            tax_minor=tax_minor,
            total_minor=total_minor,
            document=document,
            sha256=sha256,
        )

        replacement_preview.additional_properties = d
        return replacement_preview

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
