from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Commitment")


@_attrs_define
class Commitment:
    """A minimum commitment of a tenant, in minor units of `currency` a month.

    Attributes:
        id (str):
        title (str):
        minimum_minor (int):
        currency (str):
        starts_at (datetime.datetime):
        ends_at (datetime.datetime | None):
    """

    id: str
    title: str
    minimum_minor: int
    currency: str
    starts_at: datetime.datetime
    ends_at: datetime.datetime | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        title = self.title

        minimum_minor = self.minimum_minor

        currency = self.currency

        starts_at = self.starts_at.isoformat()

        ends_at: None | str
        if isinstance(self.ends_at, datetime.datetime):
            ends_at = self.ends_at.isoformat()
        else:
            ends_at = self.ends_at

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "title": title,
                "minimum_minor": minimum_minor,
                "currency": currency,
                "starts_at": starts_at,
                "ends_at": ends_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = d.pop("id")

        title = d.pop("title")

        minimum_minor = d.pop("minimum_minor")

        currency = d.pop("currency")

        starts_at = datetime.datetime.fromisoformat(d.pop("starts_at"))

        def _parse_ends_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                ends_at_type_0 = datetime.datetime.fromisoformat(data)

                return ends_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        ends_at = _parse_ends_at(d.pop("ends_at"))

        commitment = cls(
            id=id,
            title=title,
            minimum_minor=minimum_minor,
            currency=currency,
            starts_at=starts_at,
            ends_at=ends_at,
        )

        commitment.additional_properties = d
        return commitment

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
