from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.catalog_document import CatalogDocument


T = TypeVar("T", bound="Catalog")


@_attrs_define
class Catalog:
    """The published catalog in its canonical form, as JSON, and as YAML to change and upload.

    `yaml` is the text that was uploaded. If there is none, it is the canonical form.

        Attributes:
            document (CatalogDocument):
            yaml (str):
    """

    document: CatalogDocument
    yaml: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        document = self.document.to_dict()

        yaml = self.yaml

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "document": document,
                "yaml": yaml,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.catalog_document import CatalogDocument  # noqa: PLC0415

        d = dict(src_dict)
        document = CatalogDocument.from_dict(d.pop("document"))

        yaml = d.pop("yaml")

        catalog = cls(
            document=document,
            yaml=yaml,
        )

        catalog.additional_properties = d
        return catalog

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
