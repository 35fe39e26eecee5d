from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Difference")


@_attrs_define
class Difference:
    """What a catalog changes in one plan or one seller, in sentences.

    `kind` is `new`, `changed` or `retired`.

        Attributes:
            section (str):
            key (str):
            kind (str):
            sentences (list[str]):
    """

    section: str
    key: str
    kind: str
    sentences: list[str]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        section = self.section

        key = self.key

        kind = self.kind

        sentences = self.sentences

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "section": section,
                "key": key,
                "kind": kind,
                "sentences": sentences,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        section = d.pop("section")

        key = d.pop("key")

        kind = d.pop("kind")

        sentences = cast(list[str], d.pop("sentences"))

        difference = cls(
            section=section,
            key=key,
            kind=kind,
            sentences=sentences,
        )

        difference.additional_properties = d
        return difference

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
