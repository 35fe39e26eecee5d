from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="StaffTenant")


@_attrs_define
class StaffTenant:
    """A tenant as staff see it; `plan` is the key of its present plan.

    `plan_version` and `follows_plan` are null without a plan.

        Attributes:
            id (str):
            slug (str):
            name (str):
            plan (str): Return the key of the tenant's present plan; empty without one.

                ``tenant`` must come from a query with the prefetch ``_OPEN``; otherwise it is always empty.
            plan_version (int | None): Return the version of the plan that the tenant has.
            follows_plan (bool | None): Return whether the tenant moves to new versions of its plan.
            created_at (datetime.datetime):
            suspended_at (datetime.datetime | None): Since when staff have suspended the tenant; null: they have not.
            suspension_reason (str):
            unpaid_stage (str): What unpaid invoices keep the tenant from: `limited` (sending), `suspended` (connections),
                or nothing.
            erase_at (datetime.datetime | None): When the tenant is erased, because an owner closes it.
            erased_at (datetime.datetime | None):
    """

    id: str
    slug: str
    name: str
    plan: str
    plan_version: int | None
    follows_plan: bool | None
    created_at: datetime.datetime
    suspended_at: datetime.datetime | None
    suspension_reason: str
    unpaid_stage: str
    erase_at: datetime.datetime | None
    erased_at: datetime.datetime | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        slug = self.slug

        name = self.name

        plan = self.plan

        plan_version: int | None
        plan_version = self.plan_version

        follows_plan: bool | None
        follows_plan = self.follows_plan

        created_at = self.created_at.isoformat()

        suspended_at: None | str
        if isinstance(self.suspended_at, datetime.datetime):
            suspended_at = self.suspended_at.isoformat()
        else:
            suspended_at = self.suspended_at

        suspension_reason = self.suspension_reason

        unpaid_stage = self.unpaid_stage

        erase_at: None | str
        if isinstance(self.erase_at, datetime.datetime):
            erase_at = self.erase_at.isoformat()
        else:
            erase_at = self.erase_at

        erased_at: None | str
        if isinstance(self.erased_at, datetime.datetime):
            erased_at = self.erased_at.isoformat()
        else:
            erased_at = self.erased_at

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "slug": slug,
                "name": name,
                "plan": plan,
                "plan_version": plan_version,
                "follows_plan": follows_plan,
                "created_at": created_at,
                "suspended_at": suspended_at,
                "suspension_reason": suspension_reason,
                "unpaid_stage": unpaid_stage,
                "erase_at": erase_at,
                "erased_at": erased_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = d.pop("id")

        slug = d.pop("slug")

        name = d.pop("name")

        plan = d.pop("plan")

        def _parse_plan_version(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        plan_version = _parse_plan_version(d.pop("plan_version"))

        def _parse_follows_plan(data: object) -> bool | None:
            if data is None:
                return data
            return cast(bool | None, data)

        follows_plan = _parse_follows_plan(d.pop("follows_plan"))

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        def _parse_suspended_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                suspended_at_type_0 = datetime.datetime.fromisoformat(data)

                return suspended_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        suspended_at = _parse_suspended_at(d.pop("suspended_at"))

        suspension_reason = d.pop("suspension_reason")

        unpaid_stage = d.pop("unpaid_stage")

        def _parse_erase_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                erase_at_type_0 = datetime.datetime.fromisoformat(data)

                return erase_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        erase_at = _parse_erase_at(d.pop("erase_at"))

        def _parse_erased_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                erased_at_type_0 = datetime.datetime.fromisoformat(data)

                return erased_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        erased_at = _parse_erased_at(d.pop("erased_at"))

        staff_tenant = cls(
            id=id,
            slug=slug,
            name=name,
            plan=plan,
            plan_version=plan_version,
            follows_plan=follows_plan,
            created_at=created_at,
            suspended_at=suspended_at,
            suspension_reason=suspension_reason,
            unpaid_stage=unpaid_stage,
            erase_at=erase_at,
            erased_at=erased_at,
        )

        staff_tenant.additional_properties = d
        return staff_tenant

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
