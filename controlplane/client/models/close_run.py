from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="CloseRun")


@_attrs_define
class CloseRun:
    """A close run in the list.

    `step` is what a worker does now, `message` what the run waits for. `left` invoices are neither
    a draft nor held yet.

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
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
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
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
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

        close_run = cls(
            id=id,
            created_at=created_at,
            finished_at=finished_at,
            requested_by=requested_by,
            step=step,
            message=message,
            invoices=invoices,
            left=left,
            held=held,
        )

        close_run.additional_properties = d
        return close_run

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
