from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.offer_definition import OfferDefinition


T = TypeVar("T", bound="Offer")


@_attrs_define
class Offer:
    """A plan on offer; `definition` is its part of the published catalog.

    Attributes:
        key (str):
        version (int):
        title (str):
        definition (OfferDefinition):
    """

    key: str
    version: int
    title: str
    definition: OfferDefinition
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        key = self.key

        version = self.version

        title = self.title

        definition = self.definition.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "key": key,
                "version": version,
                "title": title,
                "definition": definition,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.offer_definition import OfferDefinition  # noqa: PLC0415

        d = dict(src_dict)
        key = d.pop("key")

        version = d.pop("version")

        title = d.pop("title")

        definition = OfferDefinition.from_dict(d.pop("definition"))

        offer = cls(
            key=key,
            version=version,
            title=title,
            definition=definition,
        )

        offer.additional_properties = d
        return offer

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
