from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.kind_enum import KindEnum, check_kind_enum

if TYPE_CHECKING:
    from ..models.membership import Membership


T = TypeVar("T", bound="Session")


@_attrs_define
class Session:
    """A new token of a person, to send as a bearer token until `expires_at`.

    Attributes:
        kind (KindEnum): * `person` - person
            * `token` - token
        name (str): A person's email, or a token's name.
        is_staff (bool):
        tenants (list[Membership]):
        token (str):
        expires_at (datetime.datetime):
    """

    kind: KindEnum
    name: str
    is_staff: bool
    tenants: list[Membership]
    token: str
    expires_at: datetime.datetime
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        kind: str = self.kind

        name = self.name

        is_staff = self.is_staff

        tenants = []
        for tenants_item_data in self.tenants:
            tenants_item = tenants_item_data.to_dict()
            tenants.append(tenants_item)

        token = self.token

        expires_at = self.expires_at.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "kind": kind,
                "name": name,
                "is_staff": is_staff,
                "tenants": tenants,
                "token": token,
                "expires_at": expires_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.membership import Membership  # noqa: PLC0415

        d = dict(src_dict)
        kind = check_kind_enum(d.pop("kind"))

        name = d.pop("name")

        is_staff = d.pop("is_staff")

        tenants = []
        _tenants = d.pop("tenants")
        for tenants_item_data in _tenants:
            tenants_item = Membership.from_dict(tenants_item_data)

            tenants.append(tenants_item)

        token = d.pop("token")

        expires_at = datetime.datetime.fromisoformat(d.pop("expires_at"))

        session = cls(
            kind=kind,
            name=name,
            is_staff=is_staff,
            tenants=tenants,
            token=token,
            expires_at=expires_at,
        )

        session.additional_properties = d
        return session

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
