from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.condition import Condition
    from ..models.grant import Grant
    from ..models.user_reading import UserReading


T = TypeVar("T", bound="MessagingUser")


@_attrs_define
class MessagingUser:
    """A messaging user, as which clients log in to the space; the password is never shown.

    Attributes:
        phase (str):
        generation (int):
        observed_generation (int):
        conditions (list[Condition]):
        created_at (datetime.datetime):
        deletion_requested_at (datetime.datetime | None):
        id (str):
        name (str):
        permissions (list[Grant]):
        live (UserReading): What the listed open connections of one messaging user add up to.

            Rates are messages per second between the last two readings; null if none is known.
    """

    phase: str
    generation: int
    observed_generation: int
    conditions: list[Condition]
    created_at: datetime.datetime
    deletion_requested_at: datetime.datetime | None
    id: str
    name: str
    permissions: list[Grant]
    live: UserReading
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        phase = self.phase

        generation = self.generation

        observed_generation = self.observed_generation

        conditions = []
        for conditions_item_data in self.conditions:
            conditions_item = conditions_item_data.to_dict()
            conditions.append(conditions_item)

        created_at = self.created_at.isoformat()

        deletion_requested_at: None | str
        if isinstance(self.deletion_requested_at, datetime.datetime):
            deletion_requested_at = self.deletion_requested_at.isoformat()
        else:
            deletion_requested_at = self.deletion_requested_at

        id = self.id

        name = self.name

        permissions = []
        for permissions_item_data in self.permissions:
            permissions_item = permissions_item_data.to_dict()
            permissions.append(permissions_item)

        live = self.live.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "phase": phase,
                "generation": generation,
                "observed_generation": observed_generation,
                "conditions": conditions,
                "created_at": created_at,
                "deletion_requested_at": deletion_requested_at,
                "id": id,
                "name": name,
                "permissions": permissions,
                "live": live,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.condition import Condition  # noqa: PLC0415
        from ..models.grant import Grant  # noqa: PLC0415
        from ..models.user_reading import UserReading  # noqa: PLC0415

        d = dict(src_dict)
        phase = d.pop("phase")

        generation = d.pop("generation")

        observed_generation = d.pop("observed_generation")

        conditions = []
        _conditions = d.pop("conditions")
        for conditions_item_data in _conditions:
            conditions_item = Condition.from_dict(conditions_item_data)

            conditions.append(conditions_item)

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        def _parse_deletion_requested_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                deletion_requested_at_type_0 = datetime.datetime.fromisoformat(data)

                return deletion_requested_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        deletion_requested_at = _parse_deletion_requested_at(d.pop("deletion_requested_at"))

        id = d.pop("id")

        name = d.pop("name")

        permissions = []
        _permissions = d.pop("permissions")
        for permissions_item_data in _permissions:
            permissions_item = Grant.from_dict(permissions_item_data)

            permissions.append(permissions_item)

        live = UserReading.from_dict(d.pop("live"))

        messaging_user = cls(
            phase=phase,
            generation=generation,
            observed_generation=observed_generation,
            conditions=conditions,
            created_at=created_at,
            deletion_requested_at=deletion_requested_at,
            id=id,
            name=name,
            permissions=permissions,
            live=live,
        )

        messaging_user.additional_properties = d
        return messaging_user

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
