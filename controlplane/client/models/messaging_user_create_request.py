from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.grant_request import GrantRequest


T = TypeVar("T", bound="MessagingUserCreateRequest")


@_attrs_define
class MessagingUserCreateRequest:
    """A messaging user to create. Only verifiers of the password are stored.

    Attributes:
        name (str):
        password (str):
        permissions (list[GrantRequest]):
    """

    name: str
    password: str
    permissions: list[GrantRequest]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        password = self.password

        permissions = []
        for permissions_item_data in self.permissions:
            permissions_item = permissions_item_data.to_dict()
            permissions.append(permissions_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "name": name,
                "password": password,
                "permissions": permissions,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.grant_request import GrantRequest  # noqa: PLC0415

        d = dict(src_dict)
        name = d.pop("name")

        password = d.pop("password")

        permissions = []
        _permissions = d.pop("permissions")
        for permissions_item_data in _permissions:
            permissions_item = GrantRequest.from_dict(permissions_item_data)

            permissions.append(permissions_item)

        messaging_user_create_request = cls(
            name=name,
            password=password,
            permissions=permissions,
        )

        messaging_user_create_request.additional_properties = d
        return messaging_user_create_request

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
