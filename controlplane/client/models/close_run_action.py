from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.close_run_action_kind import (
    CloseRunActionKind,
    check_close_run_action_kind,
)

if TYPE_CHECKING:
    from ..models.action_failure import ActionFailure


T = TypeVar("T", bound="CloseRunAction")


@_attrs_define
class CloseRunAction:
    """An approval or issue of many invoices: how many there were, and how many are done.

    Attributes:
        id (str):
        kind (CloseRunActionKind): * `approve` - Approve
            * `issue` - Issue
        requested_by (str):
        created_at (datetime.datetime):
        finished_at (datetime.datetime | None):
        invoices (int):
        done (int):
        failures (list[ActionFailure]):
    """

    id: str
    kind: CloseRunActionKind
    requested_by: str
    created_at: datetime.datetime
    finished_at: datetime.datetime | None
    invoices: int
    done: int
    failures: list[ActionFailure]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        kind: str = self.kind

        requested_by = self.requested_by

        created_at = self.created_at.isoformat()

        finished_at: None | str
        if isinstance(self.finished_at, datetime.datetime):
            finished_at = self.finished_at.isoformat()
        else:
            finished_at = self.finished_at

        invoices = self.invoices

        done = self.done

        failures = []
        for failures_item_data in self.failures:
            failures_item = failures_item_data.to_dict()
            failures.append(failures_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "kind": kind,
                "requested_by": requested_by,
                "created_at": created_at,
                "finished_at": finished_at,
                "invoices": invoices,
                "done": done,
                "failures": failures,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.action_failure import ActionFailure  # noqa: PLC0415

        d = dict(src_dict)
        id = d.pop("id")

        kind = check_close_run_action_kind(d.pop("kind"))

        requested_by = d.pop("requested_by")

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

        invoices = d.pop("invoices")

        done = d.pop("done")

        failures = []
        _failures = d.pop("failures")
        for failures_item_data in _failures:
            failures_item = ActionFailure.from_dict(failures_item_data)

            failures.append(failures_item)

        close_run_action = cls(
            id=id,
            kind=kind,
            requested_by=requested_by,
            created_at=created_at,
            finished_at=finished_at,
            invoices=invoices,
            done=done,
            failures=failures,
        )

        close_run_action.additional_properties = d
        return close_run_action

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
