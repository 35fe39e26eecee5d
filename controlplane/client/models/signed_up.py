from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.membership import Membership


T = TypeVar("T", bound="SignedUp")


@_attrs_define
class SignedUp:
    """The result of a sign-up: a session, or a mail that was sent to confirm the address.

    `token` is null in the answer to a request that is repeated with its Idempotency-Key: log in
    then.

        Attributes:
            confirmation_sent (bool):
            kind (str | Unset):
            name (str | Unset):
            is_staff (bool | Unset):
            tenants (list[Membership] | Unset):
            token (None | str | Unset):
            expires_at (datetime.datetime | Unset):
    """

    confirmation_sent: bool
    kind: str | Unset = UNSET
    name: str | Unset = UNSET
    is_staff: bool | Unset = UNSET
    tenants: list[Membership] | Unset = UNSET
    token: None | str | Unset = UNSET
    expires_at: datetime.datetime | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        confirmation_sent = self.confirmation_sent

        kind = self.kind

        name = self.name

        is_staff = self.is_staff

        tenants: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.tenants, Unset):
            tenants = []
            for tenants_item_data in self.tenants:
                tenants_item = tenants_item_data.to_dict()
                tenants.append(tenants_item)

        token: None | str | Unset
        if isinstance(self.token, Unset):
            token = UNSET
        else:
            token = self.token

        expires_at: str | Unset = UNSET
        if not isinstance(self.expires_at, Unset):
            expires_at = self.expires_at.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "confirmation_sent": confirmation_sent,
            }
        )
        if kind is not UNSET:
            field_dict["kind"] = kind
        if name is not UNSET:
            field_dict["name"] = name
        if is_staff is not UNSET:
            field_dict["is_staff"] = is_staff
        if tenants is not UNSET:
            field_dict["tenants"] = tenants
        if token is not UNSET:
            field_dict["token"] = token
        if expires_at is not UNSET:
            field_dict["expires_at"] = expires_at

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.membership import Membership  # noqa: PLC0415

        d = dict(src_dict)
        confirmation_sent = d.pop("confirmation_sent")

        kind = d.pop("kind", UNSET)

        name = d.pop("name", UNSET)

        is_staff = d.pop("is_staff", UNSET)

        _tenants = d.pop("tenants", UNSET)
        tenants: list[Membership] | Unset = UNSET
        if _tenants is not UNSET:
            tenants = []
            for tenants_item_data in _tenants:
                tenants_item = Membership.from_dict(tenants_item_data)

                tenants.append(tenants_item)

        def _parse_token(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        token = _parse_token(d.pop("token", UNSET))

        _expires_at = d.pop("expires_at", UNSET)
        expires_at: datetime.datetime | Unset
        if isinstance(_expires_at, Unset):
            expires_at = UNSET
        else:
            expires_at = datetime.datetime.fromisoformat(_expires_at)

        signed_up = cls(
            confirmation_sent=confirmation_sent,
            kind=kind,
            name=name,
            is_staff=is_staff,
            tenants=tenants,
            token=token,
            expires_at=expires_at,
        )

        signed_up.additional_properties = d
        return signed_up

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
