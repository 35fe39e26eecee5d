from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.action_enum import ActionEnum, check_action_enum

if TYPE_CHECKING:
    from ..models.simulated_day import SimulatedDay
    from ..models.simulation_affected import SimulationAffected


T = TypeVar("T", bound="Simulation")


@_attrs_define
class Simulation:
    """What a cap would have done last month, on the present plan.

    `acted_at` is the end of the hour in which the cap was reached; null: it was not. `affected`
    maps meters to what was counted after that and would have been refused, or with `throttle`
    delayed.

        Attributes:
            starts_at (datetime.datetime):
            ends_at (datetime.datetime):
            currency (str):
            amount_minor (int):
            action (ActionEnum): * `notify` - notify
                * `throttle` - throttle
                * `withdraw_send` - withdraw_send
                * `refuse_connections` - refuse_connections
            spent_minor (int):
            fee_minor (int): The month without spaces and usage, with tax. Not less than the cap: the cap acts on the first
                day of each month.
            acted_at (datetime.datetime | None):
            affected (SimulationAffected):
            days (list[SimulatedDay]):
    """

    starts_at: datetime.datetime
    ends_at: datetime.datetime
    currency: str
    amount_minor: int
    action: ActionEnum
    spent_minor: int
    fee_minor: int
    acted_at: datetime.datetime | None
    affected: SimulationAffected
    days: list[SimulatedDay]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        starts_at = self.starts_at.isoformat()

        ends_at = self.ends_at.isoformat()

        currency = self.currency

        amount_minor = self.amount_minor

        action: str = self.action

        spent_minor = self.spent_minor

        fee_minor = self.fee_minor

        acted_at: None | str
        if isinstance(self.acted_at, datetime.datetime):
            acted_at = self.acted_at.isoformat()
        else:
            acted_at = self.acted_at

        affected = self.affected.to_dict()

        days = []
        for days_item_data in self.days:
            days_item = days_item_data.to_dict()
            days.append(days_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "starts_at": starts_at,
                "ends_at": ends_at,
                "currency": currency,
                "amount_minor": amount_minor,
                "action": action,
                "spent_minor": spent_minor,
                "fee_minor": fee_minor,
                "acted_at": acted_at,
                "affected": affected,
                "days": days,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.simulated_day import SimulatedDay  # noqa: PLC0415
        from ..models.simulation_affected import SimulationAffected  # noqa: PLC0415

        d = dict(src_dict)
        starts_at = datetime.datetime.fromisoformat(d.pop("starts_at"))

        ends_at = datetime.datetime.fromisoformat(d.pop("ends_at"))

        currency = d.pop("currency")

        amount_minor = d.pop("amount_minor")

        action = check_action_enum(d.pop("action"))

        spent_minor = d.pop("spent_minor")

        fee_minor = d.pop("fee_minor")

        def _parse_acted_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                acted_at_type_0 = datetime.datetime.fromisoformat(data)

                return acted_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        acted_at = _parse_acted_at(d.pop("acted_at"))

        affected = SimulationAffected.from_dict(d.pop("affected"))

        days = []
        _days = d.pop("days")
        for days_item_data in _days:
            days_item = SimulatedDay.from_dict(days_item_data)

            days.append(days_item)

        simulation = cls(
            starts_at=starts_at,
            ends_at=ends_at,
            currency=currency,
            amount_minor=amount_minor,
            action=action,
            spent_minor=spent_minor,
            fee_minor=fee_minor,
            acted_at=acted_at,
            affected=affected,
            days=days,
        )

        simulation.additional_properties = d
        return simulation

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
