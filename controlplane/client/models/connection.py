from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Connection")


@_attrs_define
class Connection:
    """One open connection of a client.

    What its broker or router does not report is empty or null.

        Attributes:
            id (str):
            instance (str): The broker or router that it is connected to.
            user (str): Empty before the login ends.
            client_id (str): Chosen by the client.
            remote_address (str):
            protocol (str):
            product (str): The client's own name and version.
            tls (str): Version and cipher; `none` without encryption.
            since (datetime.datetime | None):
            sessions (int | None):
            links (int): Open senders and receivers.
            addresses (list[str]): Addresses of its links; at most 100.
            sent (int | None): Messages that the client has sent: to a broker since it connected, to a router on its open
                links.
            received (int | None): Messages that the client has received, counted the same way.
            sent_per_second (float | None): Between the last two readings. Null before the second one, and on a router if a
                link was closed between them.
            received_per_second (float | None): The same.
    """

    id: str
    instance: str
    user: str
    client_id: str
    remote_address: str
    protocol: str
    product: str
    tls: str
    since: datetime.datetime | None
    sessions: int | None
    links: int
    addresses: list[str]
    sent: int | None
    received: int | None
    sent_per_second: float | None
    received_per_second: float | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        instance = self.instance

        user = self.user

        client_id = self.client_id

        remote_address = self.remote_address

        protocol = self.protocol

        product = self.product

        tls = self.tls

        since: None | str
        if isinstance(self.since, datetime.datetime):
            since = self.since.isoformat()
        else:
            since = self.since

        sessions: int | None
        sessions = self.sessions

        links = self.links

        addresses = self.addresses

        sent: int | None
        sent = self.sent

        received: int | None
        received = self.received

        sent_per_second: float | None
        sent_per_second = self.sent_per_second

        received_per_second: float | None
        received_per_second = self.received_per_second

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "instance": instance,
                "user": user,
                "client_id": client_id,
                "remote_address": remote_address,
                "protocol": protocol,
                "product": product,
                "tls": tls,
                "since": since,
                "sessions": sessions,
                "links": links,
                "addresses": addresses,
                "sent": sent,
                "received": received,
                "sent_per_second": sent_per_second,
                "received_per_second": received_per_second,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = d.pop("id")

        instance = d.pop("instance")

        user = d.pop("user")

        client_id = d.pop("client_id")

        remote_address = d.pop("remote_address")

        protocol = d.pop("protocol")

        product = d.pop("product")

        tls = d.pop("tls")

        def _parse_since(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                since_type_0 = datetime.datetime.fromisoformat(data)

                return since_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        since = _parse_since(d.pop("since"))

        def _parse_sessions(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        sessions = _parse_sessions(d.pop("sessions"))

        links = d.pop("links")

        addresses = cast(list[str], d.pop("addresses"))

        def _parse_sent(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        sent = _parse_sent(d.pop("sent"))

        def _parse_received(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        received = _parse_received(d.pop("received"))

        def _parse_sent_per_second(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        sent_per_second = _parse_sent_per_second(d.pop("sent_per_second"))

        def _parse_received_per_second(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        received_per_second = _parse_received_per_second(d.pop("received_per_second"))

        connection = cls(
            id=id,
            instance=instance,
            user=user,
            client_id=client_id,
            remote_address=remote_address,
            protocol=protocol,
            product=product,
            tls=tls,
            since=since,
            sessions=sessions,
            links=links,
            addresses=addresses,
            sent=sent,
            received=received,
            sent_per_second=sent_per_second,
            received_per_second=received_per_second,
        )

        connection.additional_properties = d
        return connection

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
