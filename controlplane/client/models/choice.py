from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Choice")


@_attrs_define
class Choice:
    """What a member gets of one kind: `by_mail` results from `own`, `default` and the role.

    Attributes:
        kind (str):
        by_mail (bool):
        own (bool | None):
        default (bool | None):
        is_fixed (bool):
    """

    kind: str
    by_mail: bool
    own: bool | None
    default: bool | None
    is_fixed: bool
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        kind = self.kind

        by_mail = self.by_mail

        own: bool | None
        own = self.own

        default: bool | None
        default = self.default

        is_fixed = self.is_fixed

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "kind": kind,
                "by_mail": by_mail,
                "own": own,
                "default": default,
                "is_fixed": is_fixed,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        kind = d.pop("kind")

        by_mail = d.pop("by_mail")

        def _parse_own(data: object) -> bool | None:
            if data is None:
                return data
            return cast(bool | None, data)

        own = _parse_own(d.pop("own"))

        def _parse_default(data: object) -> bool | None:
            if data is None:
                return data
            return cast(bool | None, data)

        default = _parse_default(d.pop("default"))

        is_fixed = d.pop("is_fixed")

        choice = cls(
            kind=kind,
            by_mail=by_mail,
            own=own,
            default=default,
            is_fixed=is_fixed,
        )

        choice.additional_properties = d
        return choice

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
