from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.address_space_labels import AddressSpaceLabels
    from ..models.condition import Condition
    from ..models.endpoint import Endpoint


T = TypeVar("T", bound="AddressSpace")


@_attrs_define
class AddressSpace:
    """An address space: its desired state, its observed state and its endpoints.

    Attributes:
        phase (str):
        generation (int):
        observed_generation (int):
        conditions (list[Condition]):
        created_at (datetime.datetime):
        deletion_requested_at (datetime.datetime | None):
        id (str):
        name (str):
        type_ (str):
        plan (str):
        labels (AddressSpaceLabels): At most 16 labels {key: value}, such as team: shop. A key has lowercase letters,
            digits, dots, hyphens and underscores; a value may be empty.
        send_withdrawn (bool): True while no client may send: a quota is used up, invoices are unpaid, or the tenant is
            suspended or being closed.
        send_withdrawn_reason (str): Why no client may send: `quota`, `unpaid_invoices`, `suspension` or `closure`.
            Empty while clients may send.
        throttle_percent (int | None): The part of the plan's limits of connections and message rates that clients have
            while a used-up quota throttles them; null: all of it.
        connections_refused (bool): True while no client may connect: a quota is used up, or invoices are unpaid.
        probed_at (datetime.datetime | None): When probe messages last passed through every type of address in use, on
            every broker and router. They use internal addresses, never those of the tenant.
        silent_since (datetime.datetime | None): Since when a broker or router has not answered; null if all answer.
        endpoints (list[Endpoint]):
    """

    phase: str
    generation: int
    observed_generation: int
    conditions: list[Condition]
    created_at: datetime.datetime
    deletion_requested_at: datetime.datetime | None
    id: str
    name: str
    type_: str
    plan: str
    labels: AddressSpaceLabels
    send_withdrawn: bool
    send_withdrawn_reason: str
    throttle_percent: int | None
    connections_refused: bool
    probed_at: datetime.datetime | None
    silent_since: datetime.datetime | None
    endpoints: list[Endpoint]
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

        type_ = self.type_

        plan = self.plan

        labels = self.labels.to_dict()

        send_withdrawn = self.send_withdrawn

        send_withdrawn_reason = self.send_withdrawn_reason

        throttle_percent: int | None
        throttle_percent = self.throttle_percent

        connections_refused = self.connections_refused

        probed_at: None | str
        if isinstance(self.probed_at, datetime.datetime):
            probed_at = self.probed_at.isoformat()
        else:
            probed_at = self.probed_at

        silent_since: None | str
        if isinstance(self.silent_since, datetime.datetime):
            silent_since = self.silent_since.isoformat()
        else:
            silent_since = self.silent_since

        endpoints = []
        for endpoints_item_data in self.endpoints:
            endpoints_item = endpoints_item_data.to_dict()
            endpoints.append(endpoints_item)

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
                "type": type_,
                "plan": plan,
                "labels": labels,
                "send_withdrawn": send_withdrawn,
                "send_withdrawn_reason": send_withdrawn_reason,
                "throttle_percent": throttle_percent,
                "connections_refused": connections_refused,
                "probed_at": probed_at,
                "silent_since": silent_since,
                "endpoints": endpoints,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.address_space_labels import AddressSpaceLabels  # noqa: PLC0415
        from ..models.condition import Condition  # noqa: PLC0415
        from ..models.endpoint import Endpoint  # noqa: PLC0415

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

        type_ = d.pop("type")

        plan = d.pop("plan")

        labels = AddressSpaceLabels.from_dict(d.pop("labels"))

        send_withdrawn = d.pop("send_withdrawn")

        send_withdrawn_reason = d.pop("send_withdrawn_reason")

        def _parse_throttle_percent(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        throttle_percent = _parse_throttle_percent(d.pop("throttle_percent"))

        connections_refused = d.pop("connections_refused")

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

        def _parse_silent_since(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                silent_since_type_0 = datetime.datetime.fromisoformat(data)

                return silent_since_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        silent_since = _parse_silent_since(d.pop("silent_since"))

        endpoints = []
        _endpoints = d.pop("endpoints")
        for endpoints_item_data in _endpoints:
            endpoints_item = Endpoint.from_dict(endpoints_item_data)

            endpoints.append(endpoints_item)

        address_space = cls(
            phase=phase,
            generation=generation,
            observed_generation=observed_generation,
            conditions=conditions,
            created_at=created_at,
            deletion_requested_at=deletion_requested_at,
            id=id,
            name=name,
            type_=type_,
            plan=plan,
            labels=labels,
            send_withdrawn=send_withdrawn,
            send_withdrawn_reason=send_withdrawn_reason,
            throttle_percent=throttle_percent,
            connections_refused=connections_refused,
            probed_at=probed_at,
            silent_since=silent_since,
            endpoints=endpoints,
        )

        address_space.additional_properties = d
        return address_space

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
