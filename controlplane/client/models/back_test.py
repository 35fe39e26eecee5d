from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.back_test_source import BackTestSource, check_back_test_source
from ..models.back_test_state import BackTestState, check_back_test_state

if TYPE_CHECKING:
    from ..models.back_test_sum import BackTestSum
    from ..models.held_tenant import HeldTenant


T = TypeVar("T", bound="BackTest")


@_attrs_define
class BackTest:
    """A back-test: how far it is, and its sums so far, in total and by plan.

    Attributes:
        id (str):
        draft (str):
        months (int):
        usage (BackTestSource): * `copy` - Copy
            * `lakehouse` - Lakehouse
        state (BackTestState): * `running` - Running
            * `succeeded` - Succeeded
            * `failed` - Failed
        error (str):
        created_at (datetime.datetime):
        finished_at (datetime.datetime | None):
        n_tenants (int):
        n_rated (int):
        held (list[HeldTenant]):
        sums (list[BackTestSum]):
        plans (list[BackTestSum]):
    """

    id: str
    draft: str
    months: int
    usage: BackTestSource
    state: BackTestState
    error: str
    created_at: datetime.datetime
    finished_at: datetime.datetime | None
    n_tenants: int
    n_rated: int
    held: list[HeldTenant]
    sums: list[BackTestSum]
    plans: list[BackTestSum]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        draft = self.draft

        months = self.months

        usage: str = self.usage

        state: str = self.state

        error = self.error

        created_at = self.created_at.isoformat()

        finished_at: None | str
        if isinstance(self.finished_at, datetime.datetime):
            finished_at = self.finished_at.isoformat()
        else:
            finished_at = self.finished_at

        n_tenants = self.n_tenants

        n_rated = self.n_rated

        held = []
        for held_item_data in self.held:
            held_item = held_item_data.to_dict()
            held.append(held_item)

        sums = []
        for sums_item_data in self.sums:
            sums_item = sums_item_data.to_dict()
            sums.append(sums_item)

        plans = []
        for plans_item_data in self.plans:
            plans_item = plans_item_data.to_dict()
            plans.append(plans_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "draft": draft,
                "months": months,
                "usage": usage,
                "state": state,
                "error": error,
                "created_at": created_at,
                "finished_at": finished_at,
                "n_tenants": n_tenants,
                "n_rated": n_rated,
                "held": held,
                "sums": sums,
                "plans": plans,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.back_test_sum import BackTestSum  # noqa: PLC0415
        from ..models.held_tenant import HeldTenant  # noqa: PLC0415

        d = dict(src_dict)
        id = d.pop("id")

        draft = d.pop("draft")

        months = d.pop("months")

        usage = check_back_test_source(d.pop("usage"))

        state = check_back_test_state(d.pop("state"))

        error = d.pop("error")

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

        n_tenants = d.pop("n_tenants")

        n_rated = d.pop("n_rated")

        held = []
        _held = d.pop("held")
        for held_item_data in _held:
            held_item = HeldTenant.from_dict(held_item_data)

            held.append(held_item)

        sums = []
        _sums = d.pop("sums")
        for sums_item_data in _sums:
            sums_item = BackTestSum.from_dict(sums_item_data)

            sums.append(sums_item)

        plans = []
        _plans = d.pop("plans")
        for plans_item_data in _plans:
            plans_item = BackTestSum.from_dict(plans_item_data)

            plans.append(plans_item)

        back_test = cls(
            id=id,
            draft=draft,
            months=months,
            usage=usage,
            state=state,
            error=error,
            created_at=created_at,
            finished_at=finished_at,
            n_tenants=n_tenants,
            n_rated=n_rated,
            held=held,
            sums=sums,
            plans=plans,
        )

        back_test.additional_properties = d
        return back_test

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
