from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.address_type import AddressType, check_address_type
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.address_create_request_labels import AddressCreateRequestLabels


T = TypeVar("T", bound="AddressCreateRequest")


@_attrs_define
class AddressCreateRequest:
    """An address to create: its name, which is `address`, and its desired state.

    Attributes:
        type_ (AddressType): * `queue` - Queue
            * `topic` - Topic
            * `subscription` - Subscription
            * `anycast` - Anycast
            * `multicast` - Multicast
            * `deadletter` - Deadletter
        plan (str): An address plan of the space's type.
        address (str):
        labels (AddressCreateRequestLabels | Unset): At most 16 labels {key: value}, such as team: shop. A key has
            lowercase letters, digits, dots, hyphens and underscores; a value may be empty. They replace all labels. Absent:
            the labels stay as they are.
        message_ttl_ms (int | None | Unset): How long a message is kept at most. From 1 to 315360000000 milliseconds.
            Null or absent: the plan's value.
        message_ttl_default_ms (int | None | Unset): How long a message is kept if its sender gives it no time to live.
            Not together with message_ttl_ms, which applies to such messages too. From 1 to 315360000000 milliseconds. Null
            or absent: the plan's value.
        message_ttl_min_ms (int | None | Unset): How long a message is kept at least, whatever time to live its sender
            gives it. Needs message_ttl_ms. From 1 to 315360000000 milliseconds. Null or absent: the plan's value.
        max_delivery_attempts (int | None | Unset): How often a message is delivered before it goes to the dead letters.
            From 1 to 1000000. Null or absent: the plan's value.
        redelivery_delay_ms (int | None | Unset): How long a message waits before it is delivered once more. From 0 to
            315360000000 milliseconds. Null or absent: the plan's value.
        redelivery_multiplier (int | None | Unset): By how much the redelivery delay grows with each attempt. Without it
            the delay stays the same. From 1 to 100. Null or absent: the plan's value.
        max_redelivery_delay_ms (int | None | Unset): To how much the redelivery delay grows at most. Without it: ten
            times the delay. From 1 to 315360000000 milliseconds. Null or absent: the plan's value.
        max_bytes (int | None | Unset): How much the address stores before it refuses messages. From 1 to
            9007199254740991 bytes. Null or absent: the plan's value.
        dead_letter (str | Unset): Where messages go that receivers rejected or could not process: an address of type
            deadletter, in a brokered space also another queue. Default: the address dead-letters, if the space has it.
            Empty means none: a rejected message is then deleted, and one that could not be processed is delivered again
            without end.
        expiry (str | Unset): Where messages go whose lifetime has ended. Without it they go where dead letters go;
            without both they are deleted.
        max_consumers (int | None | Unset): How many receivers may be attached at the same time. Default: no limit. From
            1 to 1000000. Only in brokered spaces. Null or absent: the plan's value.
        when_full (str | Unset): refuse (default): messages beyond the size limit are refused. block: senders get no
            credit until there is space again; at most 8 MiB are stored then. Only in brokered spaces.
        exclusive (str | Unset): yes: one of the attached receivers gets all messages; another one follows when it
            leaves. Default: no. Only in brokered spaces.
        group_rebalance (str | Unset): yes: a new receiver makes the queue assign all message groups to receivers again.
            Default: no. Only in brokered spaces.
        ring_size (int | None | Unset): How many messages the queue keeps: each one more deletes the oldest. Default: no
            ring. From 1 to 1000000000. Only in brokered spaces. Null or absent: the plan's value.
        last_value_key (str | Unset): A property of messages: of those with the same value the queue keeps the last one
            only. Default: the queue keeps all. It can never change. Only in brokered spaces.
        topic (str | Unset): For a subscription: the topic that it subscribes to.
    """

    type_: AddressType
    plan: str
    address: str
    labels: AddressCreateRequestLabels | Unset = UNSET
    message_ttl_ms: int | None | Unset = UNSET
    message_ttl_default_ms: int | None | Unset = UNSET
    message_ttl_min_ms: int | None | Unset = UNSET
    max_delivery_attempts: int | None | Unset = UNSET
    redelivery_delay_ms: int | None | Unset = UNSET
    redelivery_multiplier: int | None | Unset = UNSET
    max_redelivery_delay_ms: int | None | Unset = UNSET
    max_bytes: int | None | Unset = UNSET
    dead_letter: str | Unset = UNSET
    expiry: str | Unset = UNSET
    max_consumers: int | None | Unset = UNSET
    when_full: str | Unset = UNSET
    exclusive: str | Unset = UNSET
    group_rebalance: str | Unset = UNSET
    ring_size: int | None | Unset = UNSET
    last_value_key: str | Unset = UNSET
    topic: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        type_: str = self.type_

        plan = self.plan

        address = self.address

        labels: dict[str, Any] | Unset = UNSET
        if not isinstance(self.labels, Unset):
            labels = self.labels.to_dict()

        message_ttl_ms: int | None | Unset
        if isinstance(self.message_ttl_ms, Unset):
            message_ttl_ms = UNSET
        else:
            message_ttl_ms = self.message_ttl_ms

        message_ttl_default_ms: int | None | Unset
        if isinstance(self.message_ttl_default_ms, Unset):
            message_ttl_default_ms = UNSET
        else:
            message_ttl_default_ms = self.message_ttl_default_ms

        message_ttl_min_ms: int | None | Unset
        if isinstance(self.message_ttl_min_ms, Unset):
            message_ttl_min_ms = UNSET
        else:
            message_ttl_min_ms = self.message_ttl_min_ms

        max_delivery_attempts: int | None | Unset
        if isinstance(self.max_delivery_attempts, Unset):
            max_delivery_attempts = UNSET
        else:
            max_delivery_attempts = self.max_delivery_attempts

        redelivery_delay_ms: int | None | Unset
        if isinstance(self.redelivery_delay_ms, Unset):
            redelivery_delay_ms = UNSET
        else:
            redelivery_delay_ms = self.redelivery_delay_ms

        redelivery_multiplier: int | None | Unset
        if isinstance(self.redelivery_multiplier, Unset):
            redelivery_multiplier = UNSET
        else:
            redelivery_multiplier = self.redelivery_multiplier

        max_redelivery_delay_ms: int | None | Unset
        if isinstance(self.max_redelivery_delay_ms, Unset):
            max_redelivery_delay_ms = UNSET
        else:
            max_redelivery_delay_ms = self.max_redelivery_delay_ms

        max_bytes: int | None | Unset
        if isinstance(self.max_bytes, Unset):
            max_bytes = UNSET
        else:
            max_bytes = self.max_bytes

        dead_letter = self.dead_letter

        expiry = self.expiry

        max_consumers: int | None | Unset
        if isinstance(self.max_consumers, Unset):
            max_consumers = UNSET
        else:
            max_consumers = self.max_consumers

        when_full = self.when_full

        exclusive = self.exclusive

        group_rebalance = self.group_rebalance

        ring_size: int | None | Unset
        if isinstance(self.ring_size, Unset):
            ring_size = UNSET
        else:
            ring_size = self.ring_size

        last_value_key = self.last_value_key

        topic = self.topic

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "type": type_,
                "plan": plan,
                "address": address,
            }
        )
        if labels is not UNSET:
            field_dict["labels"] = labels
        if message_ttl_ms is not UNSET:
            field_dict["message_ttl_ms"] = message_ttl_ms
        if message_ttl_default_ms is not UNSET:
            field_dict["message_ttl_default_ms"] = message_ttl_default_ms
        if message_ttl_min_ms is not UNSET:
            field_dict["message_ttl_min_ms"] = message_ttl_min_ms
        if max_delivery_attempts is not UNSET:
            field_dict["max_delivery_attempts"] = max_delivery_attempts
        if redelivery_delay_ms is not UNSET:
            field_dict["redelivery_delay_ms"] = redelivery_delay_ms
        if redelivery_multiplier is not UNSET:
            field_dict["redelivery_multiplier"] = redelivery_multiplier
        if max_redelivery_delay_ms is not UNSET:
            field_dict["max_redelivery_delay_ms"] = max_redelivery_delay_ms
        if max_bytes is not UNSET:
            field_dict["max_bytes"] = max_bytes
        if dead_letter is not UNSET:
            field_dict["dead_letter"] = dead_letter
        if expiry is not UNSET:
            field_dict["expiry"] = expiry
        if max_consumers is not UNSET:
            field_dict["max_consumers"] = max_consumers
        if when_full is not UNSET:
            field_dict["when_full"] = when_full
        if exclusive is not UNSET:
            field_dict["exclusive"] = exclusive
        if group_rebalance is not UNSET:
            field_dict["group_rebalance"] = group_rebalance
        if ring_size is not UNSET:
            field_dict["ring_size"] = ring_size
        if last_value_key is not UNSET:
            field_dict["last_value_key"] = last_value_key
        if topic is not UNSET:
            field_dict["topic"] = topic

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.address_create_request_labels import AddressCreateRequestLabels  # noqa: PLC0415

        d = dict(src_dict)
        type_ = check_address_type(d.pop("type"))

        plan = d.pop("plan")

        address = d.pop("address")

        _labels = d.pop("labels", UNSET)
        labels: AddressCreateRequestLabels | Unset
        if isinstance(_labels, Unset):
            labels = UNSET
        else:
            labels = AddressCreateRequestLabels.from_dict(_labels)

        def _parse_message_ttl_ms(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        message_ttl_ms = _parse_message_ttl_ms(d.pop("message_ttl_ms", UNSET))

        def _parse_message_ttl_default_ms(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        message_ttl_default_ms = _parse_message_ttl_default_ms(
            d.pop("message_ttl_default_ms", UNSET)
        )

        def _parse_message_ttl_min_ms(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        message_ttl_min_ms = _parse_message_ttl_min_ms(d.pop("message_ttl_min_ms", UNSET))

        def _parse_max_delivery_attempts(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        max_delivery_attempts = _parse_max_delivery_attempts(d.pop("max_delivery_attempts", UNSET))

        def _parse_redelivery_delay_ms(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        redelivery_delay_ms = _parse_redelivery_delay_ms(d.pop("redelivery_delay_ms", UNSET))

        def _parse_redelivery_multiplier(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        redelivery_multiplier = _parse_redelivery_multiplier(d.pop("redelivery_multiplier", UNSET))

        def _parse_max_redelivery_delay_ms(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        max_redelivery_delay_ms = _parse_max_redelivery_delay_ms(
            d.pop("max_redelivery_delay_ms", UNSET)
        )

        def _parse_max_bytes(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        max_bytes = _parse_max_bytes(d.pop("max_bytes", UNSET))

        dead_letter = d.pop("dead_letter", UNSET)

        expiry = d.pop("expiry", UNSET)

        def _parse_max_consumers(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        max_consumers = _parse_max_consumers(d.pop("max_consumers", UNSET))

        when_full = d.pop("when_full", UNSET)

        exclusive = d.pop("exclusive", UNSET)

        group_rebalance = d.pop("group_rebalance", UNSET)

        def _parse_ring_size(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        ring_size = _parse_ring_size(d.pop("ring_size", UNSET))

        last_value_key = d.pop("last_value_key", UNSET)

        topic = d.pop("topic", UNSET)

        address_create_request = cls(
            type_=type_,
            plan=plan,
            address=address,
            labels=labels,
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

        address_create_request.additional_properties = d
        return address_create_request

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
