from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.permissions_enum import PermissionsEnum, check_permissions_enum
from ..models.role import Role, check_role
from ..types import UNSET, Unset

T = TypeVar("T", bound="TokenCreateRequest")


@_attrs_define
class TokenCreateRequest:
    """A token to create.

    Without `expires_at` it expires in 90 days; null means never. `spaces` limits it to spaces with
    these names, `permissions` to these permissions of its role; empty lists do not limit.

        Attributes:
            name (str):
            role (Role): * `owner` - Owner
                * `admin` - Admin
                * `developer` - Developer
                * `billing` - Billing
                * `viewer` - Viewer
            expires_at (datetime.datetime | None | Unset):
            spaces (list[str] | Unset):
            permissions (list[PermissionsEnum] | Unset):
    """

    name: str
    role: Role
    expires_at: datetime.datetime | None | Unset = UNSET
    spaces: list[str] | Unset = UNSET
    permissions: list[PermissionsEnum] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        role: str = self.role

        expires_at: None | str | Unset
        if isinstance(self.expires_at, Unset):
            expires_at = UNSET
        elif isinstance(self.expires_at, datetime.datetime):
            expires_at = self.expires_at.isoformat()
        else:
            expires_at = self.expires_at

        spaces: list[str] | Unset = UNSET
        if not isinstance(self.spaces, Unset):
            spaces = self.spaces

        permissions: list[str] | Unset = UNSET
        if not isinstance(self.permissions, Unset):
            permissions = []
            for permissions_item_data in self.permissions:
                permissions_item: str = permissions_item_data
                permissions.append(permissions_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "name": name,
                "role": role,
            }
        )
        if expires_at is not UNSET:
            field_dict["expires_at"] = expires_at
        if spaces is not UNSET:
            field_dict["spaces"] = spaces
        if permissions is not UNSET:
            field_dict["permissions"] = permissions

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        name = d.pop("name")

        role = check_role(d.pop("role"))

        def _parse_expires_at(data: object) -> datetime.datetime | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                expires_at_type_0 = datetime.datetime.fromisoformat(data)

                return expires_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None | Unset, data)

        expires_at = _parse_expires_at(d.pop("expires_at", UNSET))

        spaces = cast(list[str], d.pop("spaces", UNSET))

        _permissions = d.pop("permissions", UNSET)
        permissions: list[PermissionsEnum] | Unset = UNSET
        if _permissions is not UNSET:
            permissions = []
            for permissions_item_data in _permissions:
                permissions_item = check_permissions_enum(permissions_item_data)

                permissions.append(permissions_item)

        token_create_request = cls(
            name=name,
            role=role,
            expires_at=expires_at,
            spaces=spaces,
            permissions=permissions,
        )

        token_create_request.additional_properties = d
        return token_create_request

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
