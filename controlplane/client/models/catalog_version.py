from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="CatalogVersion")


@_attrs_define
class CatalogVersion:
    """A published version of the catalog.

    Attributes:
        number (int):
        digest (str): SHA-256 of the canonical JSON.
        published_at (datetime.datetime):
        published_by (str):
    """

    number: int
    digest: str
    published_at: datetime.datetime
    published_by: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        number = self.number

        digest = self.digest

        published_at = self.published_at.isoformat()

        published_by = self.published_by

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "number": number,
                "digest": digest,
                "published_at": published_at,
                "published_by": published_by,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        number = d.pop("number")

        digest = d.pop("digest")

        published_at = datetime.datetime.fromisoformat(d.pop("published_at"))

        published_by = d.pop("published_by")

        catalog_version = cls(
            number=number,
            digest=digest,
            published_at=published_at,
            published_by=published_by,
        )

        catalog_version.additional_properties = d
        return catalog_version

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
