from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.close_run_action import CloseRunAction
    from ..models.close_run_detail_states import CloseRunDetailStates
    from ..models.currency_total import CurrencyTotal
    from ..models.held_group import HeldGroup
    from ..models.skipped import Skipped


T = TypeVar("T", bound="CloseRunDetail")


@_attrs_define
class CloseRunDetail:
    """A close run with its progress in percent, the states of its invoices, totals and reasons.

    Attributes:
        id (str):
        created_at (datetime.datetime):
        finished_at (datetime.datetime | None):
        requested_by (str):
        step (str): Such as `pipeline`; empty before the first step and after the last.
        message (str):
        invoices (int):
        left (int):
        held (int):
        percent (int):
        without_evidence (int):
        states (CloseRunDetailStates):
        totals (list[CurrencyTotal]):
        held_reasons (list[HeldGroup]):
        skipped (list[Skipped]):
        action (CloseRunAction | None):
    """

    id: str
    created_at: datetime.datetime
    finished_at: datetime.datetime | None
    requested_by: str
    step: str
    message: str
    invoices: int
    left: int
    held: int
    percent: int
    without_evidence: int
    states: CloseRunDetailStates
    totals: list[CurrencyTotal]
    held_reasons: list[HeldGroup]
    skipped: list[Skipped]
    action: CloseRunAction | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.close_run_action import CloseRunAction  # noqa: PLC0415

        id = self.id

        created_at = self.created_at.isoformat()

        finished_at: None | str
        if isinstance(self.finished_at, datetime.datetime):
            finished_at = self.finished_at.isoformat()
        else:
            finished_at = self.finished_at

        requested_by = self.requested_by

        step = self.step

        message = self.message

        invoices = self.invoices

        left = self.left

        held = self.held

        percent = self.percent

        without_evidence = self.without_evidence

        states = self.states.to_dict()

        totals = []
        for totals_item_data in self.totals:
            totals_item = totals_item_data.to_dict()
            totals.append(totals_item)

        held_reasons = []
        for held_reasons_item_data in self.held_reasons:
            held_reasons_item = held_reasons_item_data.to_dict()
            held_reasons.append(held_reasons_item)

        skipped = []
        for skipped_item_data in self.skipped:
            skipped_item = skipped_item_data.to_dict()
            skipped.append(skipped_item)

        action: dict[str, Any] | None
        if isinstance(self.action, CloseRunAction):
            action = self.action.to_dict()
        else:
            action = self.action

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "created_at": created_at,
                "finished_at": finished_at,
                "requested_by": requested_by,
                "step": step,
                "message": message,
                "invoices": invoices,
                "left": left,
                "held": held,
                "percent": percent,
                "without_evidence": without_evidence,
                "states": states,
                "totals": totals,
                "held_reasons": held_reasons,
                "skipped": skipped,
                "action": action,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.close_run_action import CloseRunAction  # noqa: PLC0415
        from ..models.close_run_detail_states import CloseRunDetailStates  # noqa: PLC0415
        from ..models.currency_total import CurrencyTotal  # noqa: PLC0415
        from ..models.held_group import HeldGroup  # noqa: PLC0415
        from ..models.skipped import Skipped  # noqa: PLC0415

        d = dict(src_dict)
        id = d.pop("id")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        def _parse_finished_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                finished_at_type_0 = datetime.datetime.fromisoformat(data)

                return finished_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        finished_at = _parse_finished_at(d.pop("finished_at"))

        requested_by = d.pop("requested_by")

        step = d.pop("step")

        message = d.pop("message")

        invoices = d.pop("invoices")

        left = d.pop("left")

        held = d.pop("held")

        percent = d.pop("percent")

        without_evidence = d.pop("without_evidence")

        states = CloseRunDetailStates.from_dict(d.pop("states"))

        totals = []
        _totals = d.pop("totals")
        for totals_item_data in _totals:
            totals_item = CurrencyTotal.from_dict(totals_item_data)

            totals.append(totals_item)

        held_reasons = []
        _held_reasons = d.pop("held_reasons")
        for held_reasons_item_data in _held_reasons:
            held_reasons_item = HeldGroup.from_dict(held_reasons_item_data)

            held_reasons.append(held_reasons_item)

        skipped = []
        _skipped = d.pop("skipped")
        for skipped_item_data in _skipped:
            skipped_item = Skipped.from_dict(skipped_item_data)

            skipped.append(skipped_item)

        def _parse_action(data: object) -> CloseRunAction | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                action_type_0 = CloseRunAction.from_dict(data)

                return action_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(CloseRunAction | None, data)

        action = _parse_action(d.pop("action"))

        close_run_detail = cls(
            id=id,
            created_at=created_at,
            finished_at=finished_at,
            requested_by=requested_by,
            step=step,
            message=message,
            invoices=invoices,
            left=left,
            held=held,
            percent=percent,
            without_evidence=without_evidence,
            states=states,
            totals=totals,
            held_reasons=held_reasons,
            skipped=skipped,
            action=action,
        )

        close_run_detail.additional_properties = d
        return close_run_detail

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
