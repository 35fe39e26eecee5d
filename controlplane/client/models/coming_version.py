from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="ComingVersion")


@_attrs_define
class ComingVersion:
    """A newer version of a tenant's plan, which new subscriptions get from `starts_at` on.

    `changes` are sentences that compare it with the version that the tenant has. `moves_at` is when
    the tenant moves to it; null: it stays, or moves to another version first.

        Attributes:
            starts_at (datetime.datetime):
            changes (list[str]):
            moves_at (datetime.datetime | None):
    """

    starts_at: datetime.datetime
    changes: list[str]
    moves_at: datetime.datetime | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        starts_at = self.starts_at.isoformat()

        changes = self.changes

        moves_at: None | str
        if isinstance(self.moves_at, datetime.datetime):
            moves_at = self.moves_at.isoformat()
        else:
            moves_at = self.moves_at

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "starts_at": starts_at,
                "changes": changes,
                "moves_at": moves_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        starts_at = datetime.datetime.fromisoformat(d.pop("starts_at"))

        changes = cast(list[str], d.pop("changes"))

        def _parse_moves_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                moves_at_type_0 = datetime.datetime.fromisoformat(data)

                return moves_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        moves_at = _parse_moves_at(d.pop("moves_at"))

        coming_version = cls(
            starts_at=starts_at,
            changes=changes,
            moves_at=moves_at,
        )

        coming_version.additional_properties = d
        return coming_version

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
