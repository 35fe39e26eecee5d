from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="KeptVolumes")


@_attrs_define
class KeptVolumes:
    """The kept volumes of the brokers of one deleted space.

    `released_at` is when an operator, or the erasure of the tenant, released the volumes. `gone_at`
    is when a worker had deleted them. `deleted_at` is null while the deletion of the space still
    runs.

        Attributes:
            space_id (str):
            space (str):
            tenant_id (str):
            deleted_at (datetime.datetime | None):
            released_at (datetime.datetime | None):
            gone_at (datetime.datetime | None):
    """

    space_id: str
    space: str
    tenant_id: str
    deleted_at: datetime.datetime | None
    released_at: datetime.datetime | None
    gone_at: datetime.datetime | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        space_id = self.space_id

        space = self.space

        tenant_id = self.tenant_id

        deleted_at: None | str
        if isinstance(self.deleted_at, datetime.datetime):
            deleted_at = self.deleted_at.isoformat()
        else:
            deleted_at = self.deleted_at

        released_at: None | str
        if isinstance(self.released_at, datetime.datetime):
            released_at = self.released_at.isoformat()
        else:
            released_at = self.released_at

        gone_at: None | str
        if isinstance(self.gone_at, datetime.datetime):
            gone_at = self.gone_at.isoformat()
        else:
            gone_at = self.gone_at

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "space_id": space_id,
                "space": space,
                "tenant_id": tenant_id,
                "deleted_at": deleted_at,
                "released_at": released_at,
                "gone_at": gone_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        space_id = d.pop("space_id")

        space = d.pop("space")

        tenant_id = d.pop("tenant_id")

        def _parse_deleted_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                deleted_at_type_0 = datetime.datetime.fromisoformat(data)

                return deleted_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        deleted_at = _parse_deleted_at(d.pop("deleted_at"))

        def _parse_released_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                released_at_type_0 = datetime.datetime.fromisoformat(data)

                return released_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        released_at = _parse_released_at(d.pop("released_at"))

        def _parse_gone_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                gone_at_type_0 = datetime.datetime.fromisoformat(data)

                return gone_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        gone_at = _parse_gone_at(d.pop("gone_at"))

        kept_volumes = cls(
            space_id=space_id,
            space=space,
            tenant_id=tenant_id,
            deleted_at=deleted_at,
            released_at=released_at,
            gone_at=gone_at,
        )

        kept_volumes.additional_properties = d
        return kept_volumes

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
