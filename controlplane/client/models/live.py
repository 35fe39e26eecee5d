from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Live")


@_attrs_define
class Live:
    """The newest reading of an address.

    A value is null if no broker or router reports it. Rates are null before the second sample.

        Attributes:
            as_of (datetime.datetime): When the values were read.
            is_stale (bool): Whether `as_of` is so long ago that a broker or router of the address does not answer. The
                rates then say nothing about the present.
            depth (int | None): Messages stored now.
            stored_bytes (int | None):
            delivering (int | None): Messages sent to a receiver that has not acknowledged them yet.
            consumers (int | None):
            producers (int | None):
            oldest_seconds (int | None): Age of the oldest stored message, from the creation time that its sender set. Null
                if the address stores no message, or if that message has no creation time.
            expired (int | None): Since the last start of its brokers.
            dead_lettered (int | None): Given up after the last delivery attempt, since the last start of its brokers.
            messages_in (int): Since the first reading; not billed.
            messages_out (int): Since the first reading; not billed.
            in_per_second (float | None): Between the last two samples.
            out_per_second (float | None):
    """

    as_of: datetime.datetime
    is_stale: bool
    depth: int | None
    stored_bytes: int | None
    delivering: int | None
    consumers: int | None
    producers: int | None
    oldest_seconds: int | None
    expired: int | None
    dead_lettered: int | None
    messages_in: int
    messages_out: int
    in_per_second: float | None
    out_per_second: float | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        as_of = self.as_of.isoformat()

        is_stale = self.is_stale

        depth: int | None
        depth = self.depth

        stored_bytes: int | None
        stored_bytes = self.stored_bytes

        delivering: int | None
        delivering = self.delivering

        consumers: int | None
        consumers = self.consumers

        producers: int | None
        producers = self.producers

        oldest_seconds: int | None
        oldest_seconds = self.oldest_seconds

        expired: int | None
        expired = self.expired

        dead_lettered: int | None
        dead_lettered = self.dead_lettered

        messages_in = self.messages_in

        messages_out = self.messages_out

        in_per_second: float | None
        in_per_second = self.in_per_second

        out_per_second: float | None
        out_per_second = self.out_per_second

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "as_of": as_of,
                "is_stale": is_stale,
                "depth": depth,
                "stored_bytes": stored_bytes,
                "delivering": delivering,
                "consumers": consumers,
                "producers": producers,
                "oldest_seconds": oldest_seconds,
                "expired": expired,
                "dead_lettered": dead_lettered,
                "messages_in": messages_in,
                "messages_out": messages_out,
                "in_per_second": in_per_second,
                "out_per_second": out_per_second,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        as_of = datetime.datetime.fromisoformat(d.pop("as_of"))

        is_stale = d.pop("is_stale")

        def _parse_depth(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        depth = _parse_depth(d.pop("depth"))

        def _parse_stored_bytes(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        stored_bytes = _parse_stored_bytes(d.pop("stored_bytes"))

        def _parse_delivering(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        delivering = _parse_delivering(d.pop("delivering"))

        def _parse_consumers(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        consumers = _parse_consumers(d.pop("consumers"))

        def _parse_producers(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        producers = _parse_producers(d.pop("producers"))

        def _parse_oldest_seconds(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        oldest_seconds = _parse_oldest_seconds(d.pop("oldest_seconds"))

        def _parse_expired(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        expired = _parse_expired(d.pop("expired"))

        def _parse_dead_lettered(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        dead_lettered = _parse_dead_lettered(d.pop("dead_lettered"))

        messages_in = d.pop("messages_in")

        messages_out = d.pop("messages_out")

        def _parse_in_per_second(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        in_per_second = _parse_in_per_second(d.pop("in_per_second"))

        def _parse_out_per_second(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        out_per_second = _parse_out_per_second(d.pop("out_per_second"))

        live = cls(
            as_of=as_of,
            is_stale=is_stale,
            depth=depth,
            stored_bytes=stored_bytes,
            delivering=delivering,
            consumers=consumers,
            producers=producers,
            oldest_seconds=oldest_seconds,
            expired=expired,
            dead_lettered=dead_lettered,
            messages_in=messages_in,
            messages_out=messages_out,
            in_per_second=in_per_second,
            out_per_second=out_per_second,
        )

        live.additional_properties = d
        return live

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
