from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.operation_state import OperationState, check_operation_state

if TYPE_CHECKING:
    from ..models.step import Step


T = TypeVar("T", bound="Operation")


@_attrs_define
class Operation:
    """A long-running change that was accepted: poll it until ``state`` is Succeeded or Failed.

    Attributes:
        id (str):
        kind (str):
        subject_type (str):
        subject_id (str):
        subject_name (str):
        target_generation (int):
        state (OperationState): * `Running` - Running
            * `Succeeded` - Succeeded
            * `Failed` - Failed
        steps (list[Step]):
        restarts (list[str] | None): Names of the instances that restart for this change, one of each kind at a time;
            empty: nothing restarts; null: not known for this kind of operation.
        messages_changed (int | None): How many stored messages were purged, deleted, moved or resent so far; null: not
            known yet, or the operation is of another kind.
        error_code (str):
        error_message (str):
        created_at (datetime.datetime):
        finished_at (datetime.datetime | None):
    """

    id: str
    kind: str
    subject_type: str
    subject_id: str
    subject_name: str
    target_generation: int
    state: OperationState
    steps: list[Step]
    restarts: list[str] | None
    messages_changed: int | None
    error_code: str
    error_message: str
    created_at: datetime.datetime
    finished_at: datetime.datetime | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        kind = self.kind

        subject_type = self.subject_type

        subject_id = self.subject_id

        subject_name = self.subject_name

        target_generation = self.target_generation

        state: str = self.state

        steps = []
        for steps_item_data in self.steps:
            steps_item = steps_item_data.to_dict()
            steps.append(steps_item)

        restarts: list[str] | None
        if isinstance(self.restarts, list):
            restarts = self.restarts

        else:
            restarts = self.restarts

        messages_changed: int | None
        messages_changed = self.messages_changed

        error_code = self.error_code

        error_message = self.error_message

        created_at = self.created_at.isoformat()

        finished_at: None | str
        if isinstance(self.finished_at, datetime.datetime):
            finished_at = self.finished_at.isoformat()
        else:
            finished_at = self.finished_at

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "kind": kind,
                "subject_type": subject_type,
                "subject_id": subject_id,
                "subject_name": subject_name,
                "target_generation": target_generation,
                "state": state,
                "steps": steps,
                "restarts": restarts,
                "messages_changed": messages_changed,
                "error_code": error_code,
                "error_message": error_message,
                "created_at": created_at,
                "finished_at": finished_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.step import Step  # noqa: PLC0415

        d = dict(src_dict)
        id = d.pop("id")

        kind = d.pop("kind")

        subject_type = d.pop("subject_type")

        subject_id = d.pop("subject_id")

        subject_name = d.pop("subject_name")

        target_generation = d.pop("target_generation")

        state = check_operation_state(d.pop("state"))

        steps = []
        _steps = d.pop("steps")
        for steps_item_data in _steps:
            steps_item = Step.from_dict(steps_item_data)

            steps.append(steps_item)

        def _parse_restarts(data: object) -> list[str] | None:
            if data is None:
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                restarts_type_0 = cast(list[str], data)

                return restarts_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[str] | None, data)

        restarts = _parse_restarts(d.pop("restarts"))

        def _parse_messages_changed(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        messages_changed = _parse_messages_changed(d.pop("messages_changed"))

        error_code = d.pop("error_code")

        error_message = d.pop("error_message")

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

        operation = cls(
            id=id,
            kind=kind,
            subject_type=subject_type,
            subject_id=subject_id,
            subject_name=subject_name,
            target_generation=target_generation,
            state=state,
            steps=steps,
            restarts=restarts,
            messages_changed=messages_changed,
            error_code=error_code,
            error_message=error_message,
            created_at=created_at,
            finished_at=finished_at,
        )

        operation.additional_properties = d
        return operation

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
