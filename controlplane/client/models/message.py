from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.message_application_properties import MessageApplicationProperties
    from ..models.message_properties import MessageProperties


T = TypeVar("T", bound="Message")


@_attrs_define
class Message:
    """A stored message, as its broker shows it. A time is null if the message has none.

    Attributes:
        id (str):
        sent_at (datetime.datetime | None): The creation time that the sender set. Null if it set none.
        expires_at (datetime.datetime | None):
        size (int):
        durable (bool):
        priority (int):
        group (str):
        deliveries (int | None): How often it was delivered from this queue. Null if it came from another queue and was
            not delivered from this one yet: brokers do not keep the earlier count.
        came_from (str): The queue it was in before; empty if none.
        properties (MessageProperties):
        application_properties (MessageApplicationProperties):
        body (str): At most 4096 bytes: a text, or base64 if `is_binary`.
        is_binary (bool):
        is_whole (bool): False if `body` is only the begin.
    """

    id: str
    sent_at: datetime.datetime | None
    expires_at: datetime.datetime | None
    size: int
    durable: bool
    priority: int
    group: str
    deliveries: int | None
    came_from: str
    properties: MessageProperties
    application_properties: MessageApplicationProperties
    body: str
    is_binary: bool
    is_whole: bool
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        sent_at: None | str
        if isinstance(self.sent_at, datetime.datetime):
            sent_at = self.sent_at.isoformat()
        else:
            sent_at = self.sent_at

        expires_at: None | str
        if isinstance(self.expires_at, datetime.datetime):
            expires_at = self.expires_at.isoformat()
        else:
            expires_at = self.expires_at

        size = self.size

        durable = self.durable

        priority = self.priority

        group = self.group

        deliveries: int | None
        deliveries = self.deliveries

        came_from = self.came_from

        properties = self.properties.to_dict()

        application_properties = self.application_properties.to_dict()

        body = self.body

        is_binary = self.is_binary

        is_whole = self.is_whole

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "sent_at": sent_at,
                "expires_at": expires_at,
                "size": size,
                "durable": durable,
                "priority": priority,
                "group": group,
                "deliveries": deliveries,
                "came_from": came_from,
                "properties": properties,
                "application_properties": application_properties,
                "body": body,
                "is_binary": is_binary,
                "is_whole": is_whole,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.message_application_properties import MessageApplicationProperties  # noqa: PLC0415
        from ..models.message_properties import MessageProperties  # noqa: PLC0415

        d = dict(src_dict)
        id = d.pop("id")

        def _parse_sent_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                sent_at_type_0 = datetime.datetime.fromisoformat(data)

                return sent_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        sent_at = _parse_sent_at(d.pop("sent_at"))

        def _parse_expires_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                expires_at_type_0 = datetime.datetime.fromisoformat(data)

                return expires_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        expires_at = _parse_expires_at(d.pop("expires_at"))

        size = d.pop("size")

        durable = d.pop("durable")

        priority = d.pop("priority")

        group = d.pop("group")

        def _parse_deliveries(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        deliveries = _parse_deliveries(d.pop("deliveries"))

        came_from = d.pop("came_from")

        properties = MessageProperties.from_dict(d.pop("properties"))

        application_properties = MessageApplicationProperties.from_dict(
            d.pop("application_properties")
        )

        body = d.pop("body")

        is_binary = d.pop("is_binary")

        is_whole = d.pop("is_whole")

        message = cls(
            id=id,
            sent_at=sent_at,
            expires_at=expires_at,
            size=size,
            durable=durable,
            priority=priority,
            group=group,
            deliveries=deliveries,
            came_from=came_from,
            properties=properties,
            application_properties=application_properties,
            body=body,
            is_binary=is_binary,
            is_whole=is_whole,
        )

        message.additional_properties = d
        return message

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
