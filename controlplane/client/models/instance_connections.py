from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="InstanceConnections")


@_attrs_define
class InstanceConnections:
    """How current and how complete the list of connections of one broker or router is.

    Attributes:
        instance (str):
        as_of (datetime.datetime): When it was read from the instance.
        total (int): All open connections of clients.
        listed (int): Those that are in the list; at most 1,000.
    """

    instance: str
    as_of: datetime.datetime
    total: int
    listed: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        instance = self.instance

        as_of = self.as_of.isoformat()

        total = self.total

        listed = self.listed

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "instance": instance,
                "as_of": as_of,
                "total": total,
                "listed": listed,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        instance = d.pop("instance")

        as_of = datetime.datetime.fromisoformat(d.pop("as_of"))

        total = d.pop("total")

        listed = d.pop("listed")

        instance_connections = cls(
            instance=instance,
            as_of=as_of,
            total=total,
            listed=listed,
        )

        instance_connections.additional_properties = d
        return instance_connections

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
