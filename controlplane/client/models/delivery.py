from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.delivery_state import DeliveryState, check_delivery_state

T = TypeVar("T", bound="Delivery")


@_attrs_define
class Delivery:
    """One event for one channel.

    `reason` says why the last attempt failed, or why the delivery ended without success.

        Attributes:
            id (str):
            event (str):
            kind (str):
            channel (str):
            state (DeliveryState): * `waiting` - Waiting
                * `delivered` - Delivered
                * `failed` - Failed
                * `dropped` - Dropped
            attempts (int):
            next_attempt_at (datetime.datetime):
            ended_at (datetime.datetime | None):
            reason (str):
            created_at (datetime.datetime):
    """

    id: str
    event: str
    kind: str
    channel: str
    state: DeliveryState
    attempts: int
    next_attempt_at: datetime.datetime
    ended_at: datetime.datetime | None
    reason: str
    created_at: datetime.datetime
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        event = self.event

        kind = self.kind

        channel = self.channel

        state: str = self.state

        attempts = self.attempts

        next_attempt_at = self.next_attempt_at.isoformat()

        ended_at: None | str
        if isinstance(self.ended_at, datetime.datetime):
            ended_at = self.ended_at.isoformat()
        else:
            ended_at = self.ended_at

        reason = self.reason

        created_at = self.created_at.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "event": event,
                "kind": kind,
                "channel": channel,
                "state": state,
                "attempts": attempts,
                "next_attempt_at": next_attempt_at,
                "ended_at": ended_at,
                "reason": reason,
                "created_at": created_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = d.pop("id")

        event = d.pop("event")

        kind = d.pop("kind")

        channel = d.pop("channel")

        state = check_delivery_state(d.pop("state"))

        attempts = d.pop("attempts")

        next_attempt_at = datetime.datetime.fromisoformat(d.pop("next_attempt_at"))

        def _parse_ended_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                ended_at_type_0 = datetime.datetime.fromisoformat(data)

                return ended_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        ended_at = _parse_ended_at(d.pop("ended_at"))

        reason = d.pop("reason")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        delivery = cls(
            id=id,
            event=event,
            kind=kind,
            channel=channel,
            state=state,
            attempts=attempts,
            next_attempt_at=next_attempt_at,
            ended_at=ended_at,
            reason=reason,
            created_at=created_at,
        )

        delivery.additional_properties = d
        return delivery

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
