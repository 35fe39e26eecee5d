from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.address_labels import AddressLabels
    from ..models.condition import Condition
    from ..models.live import Live


T = TypeVar("T", bound="Address")


@_attrs_define
class Address:
    """An address of a space: its desired state, its observed state and its newest reading.

    Attributes:
        phase (str):
        generation (int):
        observed_generation (int):
        conditions (list[Condition]):
        created_at (datetime.datetime):
        deletion_requested_at (datetime.datetime | None):
        id (str):
        address (str):
        type_ (str):
        plan (str):
        labels (AddressLabels): At most 16 labels {key: value}, such as team: shop. A key has lowercase letters, digits,
            dots, hyphens and underscores; a value may be empty.
        deleted_when (list[str]): Which messages the broker deletes because no address takes them: `rejected`,
            `expired`. Empty if `dead_letter` and `expiry` take all of them.
        probed_at (datetime.datetime | None): When a probe message last went through an internal address of the same
            type on its brokers and routers. No probe goes through the address itself.
        live (Live | None): The newest reading; null before the first one.
        message_ttl_ms (int | None): How long a message is kept at most. Null: the plan's value.
        message_ttl_default_ms (int | None): How long a message is kept if its sender gives it no time to live. Not
            together with message_ttl_ms, which applies to such messages too. Null: the plan's value.
        message_ttl_min_ms (int | None): How long a message is kept at least, whatever time to live its sender gives it.
            Needs message_ttl_ms. Null: the plan's value.
        max_delivery_attempts (int | None): How often a message is delivered before it goes to the dead letters. Null:
            the plan's value.
        redelivery_delay_ms (int | None): How long a message waits before it is delivered once more. Null: the plan's
            value.
        redelivery_multiplier (int | None): By how much the redelivery delay grows with each attempt. Without it the
            delay stays the same. Null: the plan's value.
        max_redelivery_delay_ms (int | None): To how much the redelivery delay grows at most. Without it: ten times the
            delay. Null: the plan's value.
        max_bytes (int | None): How much the address stores before it refuses messages. Null: the plan's value.
        dead_letter (str): Where messages go that receivers rejected or could not process: an address of type
            deadletter, in a brokered space also another queue. Default: the address dead-letters, if the space has it.
            Empty means none: a rejected message is then deleted, and one that could not be processed is delivered again
            without end.
        expiry (str): Where messages go whose lifetime has ended. Without it they go where dead letters go; without both
            they are deleted.
        max_consumers (int | None): How many receivers may be attached at the same time. Default: no limit. Null: the
            plan's value.
        when_full (str): refuse (default): messages beyond the size limit are refused. block: senders get no credit
            until there is space again; at most 8 MiB are stored then.
        exclusive (str): yes: one of the attached receivers gets all messages; another one follows when it leaves.
            Default: no.
        group_rebalance (str): yes: a new receiver makes the queue assign all message groups to receivers again.
            Default: no.
        ring_size (int | None): How many messages the queue keeps: each one more deletes the oldest. Default: no ring.
            Null: the plan's value.
        last_value_key (str): A property of messages: of those with the same value the queue keeps the last one only.
            Default: the queue keeps all.
        topic (str | Unset):
    """

    phase: str
    generation: int
    observed_generation: int
    conditions: list[Condition]
    created_at: datetime.datetime
    deletion_requested_at: datetime.datetime | None
    id: str
    address: str
    type_: str
    plan: str
    labels: AddressLabels
    deleted_when: list[str]
    probed_at: datetime.datetime | None
    live: Live | None
    message_ttl_ms: int | None
    message_ttl_default_ms: int | None
    message_ttl_min_ms: int | None
    max_delivery_attempts: int | None
    redelivery_delay_ms: int | None
    redelivery_multiplier: int | None
    max_redelivery_delay_ms: int | None
    max_bytes: int | None
    dead_letter: str
    expiry: str
    max_consumers: int | None
    when_full: str
    exclusive: str
    group_rebalance: str
    ring_size: int | None
    last_value_key: str
    topic: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.live import Live  # noqa: PLC0415

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

        address = self.address

        type_ = self.type_

        plan = self.plan

        labels = self.labels.to_dict()

        deleted_when = self.deleted_when

        probed_at: None | str
        if isinstance(self.probed_at, datetime.datetime):
            probed_at = self.probed_at.isoformat()
        else:
            probed_at = self.probed_at

        live: dict[str, Any] | None
        if isinstance(self.live, Live):
            live = self.live.to_dict()
        else:
            live = self.live

        message_ttl_ms: int | None
        message_ttl_ms = self.message_ttl_ms

        message_ttl_default_ms: int | None
        message_ttl_default_ms = self.message_ttl_default_ms

        message_ttl_min_ms: int | None
        message_ttl_min_ms = self.message_ttl_min_ms

        max_delivery_attempts: int | None
        max_delivery_attempts = self.max_delivery_attempts

        redelivery_delay_ms: int | None
        redelivery_delay_ms = self.redelivery_delay_ms

        redelivery_multiplier: int | None
        redelivery_multiplier = self.redelivery_multiplier

        max_redelivery_delay_ms: int | None
        max_redelivery_delay_ms = self.max_redelivery_delay_ms

        max_bytes: int | None
        max_bytes = self.max_bytes

        dead_letter = self.dead_letter

        expiry = self.expiry

        max_consumers: int | None
        max_consumers = self.max_consumers

        when_full = self.when_full

        exclusive = self.exclusive

        group_rebalance = self.group_rebalance

        ring_size: int | None
        ring_size = self.ring_size

        last_value_key = self.last_value_key

        topic = self.topic

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
                "address": address,
                "type": type_,
                "plan": plan,
                "labels": labels,
                "deleted_when": deleted_when,
                "probed_at": probed_at,
                "live": live,
                "message_ttl_ms": message_ttl_ms,
                "message_ttl_default_ms": message_ttl_default_ms,
                "message_ttl_min_ms": message_ttl_min_ms,
                "max_delivery_attempts": max_delivery_attempts,
                "redelivery_delay_ms": redelivery_delay_ms,
                "redelivery_multiplier": redelivery_multiplier,
                "max_redelivery_delay_ms": max_redelivery_delay_ms,
                "max_bytes": max_bytes,
                "dead_letter": dead_letter,
                "expiry": expiry,
                "max_consumers": max_consumers,
                "when_full": when_full,
                "exclusive": exclusive,
                "group_rebalance": group_rebalance,
                "ring_size": ring_size,
                "last_value_key": last_value_key,
            }
        )
        if topic is not UNSET:
            field_dict["topic"] = topic

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.address_labels import AddressLabels  # noqa: PLC0415
        from ..models.condition import Condition  # noqa: PLC0415
        from ..models.live import Live  # noqa: PLC0415

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

        address = d.pop("address")

        type_ = d.pop("type")

        plan = d.pop("plan")

        labels = AddressLabels.from_dict(d.pop("labels"))

        deleted_when = cast(list[str], d.pop("deleted_when"))

        def _parse_probed_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                probed_at_type_0 = datetime.datetime.fromisoformat(data)

                return probed_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        probed_at = _parse_probed_at(d.pop("probed_at"))

        def _parse_live(data: object) -> Live | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                live_type_0 = Live.from_dict(data)

                return live_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(Live | None, data)

        live = _parse_live(d.pop("live"))

        def _parse_message_ttl_ms(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        message_ttl_ms = _parse_message_ttl_ms(d.pop("message_ttl_ms"))

        def _parse_message_ttl_default_ms(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        message_ttl_default_ms = _parse_message_ttl_default_ms(d.pop("message_ttl_default_ms"))

        def _parse_message_ttl_min_ms(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        message_ttl_min_ms = _parse_message_ttl_min_ms(d.pop("message_ttl_min_ms"))

        def _parse_max_delivery_attempts(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        max_delivery_attempts = _parse_max_delivery_attempts(d.pop("max_delivery_attempts"))

        def _parse_redelivery_delay_ms(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        redelivery_delay_ms = _parse_redelivery_delay_ms(d.pop("redelivery_delay_ms"))

        def _parse_redelivery_multiplier(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        redelivery_multiplier = _parse_redelivery_multiplier(d.pop("redelivery_multiplier"))

        def _parse_max_redelivery_delay_ms(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        max_redelivery_delay_ms = _parse_max_redelivery_delay_ms(d.pop("max_redelivery_delay_ms"))

        def _parse_max_bytes(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        max_bytes = _parse_max_bytes(d.pop("max_bytes"))

        dead_letter = d.pop("dead_letter")

        expiry = d.pop("expiry")

        def _parse_max_consumers(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        max_consumers = _parse_max_consumers(d.pop("max_consumers"))

        when_full = d.pop("when_full")

        exclusive = d.pop("exclusive")

        group_rebalance = d.pop("group_rebalance")

        def _parse_ring_size(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        ring_size = _parse_ring_size(d.pop("ring_size"))

        last_value_key = d.pop("last_value_key")

        topic = d.pop("topic", UNSET)

        address = cls(
            phase=phase,
            generation=generation,
            observed_generation=observed_generation,
            conditions=conditions,
            created_at=created_at,
            deletion_requested_at=deletion_requested_at,
            id=id,
            address=address,
            type_=type_,
            plan=plan,
            labels=labels,
            deleted_when=deleted_when,
            probed_at=probed_at,
            live=live,
            message_ttl_ms=message_ttl_ms,
            message_ttl_default_ms=message_ttl_default_ms,
            message_ttl_min_ms=message_ttl_min_ms,
            max_delivery_attempts=max_delivery_attempts,
            redelivery_delay_ms=redelivery_delay_ms,
            redelivery_multiplier=redelivery_multiplier,
            max_redelivery_delay_ms=max_redelivery_delay_ms,
            max_bytes=max_bytes,
            dead_letter=dead_letter,
            expiry=expiry,
            max_consumers=max_consumers,
            when_full=when_full,
            exclusive=exclusive,
            group_rebalance=group_rebalance,
            ring_size=ring_size,
            last_value_key=last_value_key,
            topic=topic,
        )

        address.additional_properties = d
        return address

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
