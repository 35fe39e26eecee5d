from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Change")


@_attrs_define
class Change:
    """What publishing does to one plan, which `section` and `key` name; `same` is no change.

    `n_subscribers` counts who uses any version of the plan now: the tenants of a plan, the spaces
    of a space plan, the addresses of an address plan. Spaces and addresses keep their version, and
    so do tenants that do not follow their plan.

        Attributes:
            section (str):
            key (str):
            kind (str): new, changed, retired or same
            n_subscribers (int):
    """

    section: str
    key: str
    kind: str
    n_subscribers: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        section = self.section

        key = self.key

        kind = self.kind

        n_subscribers = self.n_subscribers

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "section": section,
                "key": key,
                "kind": kind,
                "n_subscribers": n_subscribers,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        section = d.pop("section")

        key = d.pop("key")

        kind = d.pop("kind")

        n_subscribers = d.pop("n_subscribers")

        change = cls(
            section=section,
            key=key,
            kind=kind,
            n_subscribers=n_subscribers,
        )

        change.additional_properties = d
        return change

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
