from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="BackTestMonth")


@_attrs_define
class BackTestMonth:
    """What one billing month of a tenant cost, and would cost under the draft.

    Amounts are minor units of `currency`. `invoiced_net_minor` is null if the month has no approved
    invoice.

        Attributes:
            tenant (str):
            month_starts_at (datetime.datetime):
            plan (str):
            follows (bool):
            currency (str):
            present_net_minor (int):
            draft_net_minor (int):
            difference_minor (int):
            present_total_minor (int):
            draft_total_minor (int):
            invoiced_net_minor (int | None):
    """

    tenant: str
    month_starts_at: datetime.datetime
    plan: str
    follows: bool
    currency: str
    present_net_minor: int
    draft_net_minor: int
    difference_minor: int
    present_total_minor: int
    draft_total_minor: int
    invoiced_net_minor: int | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        tenant = self.tenant

        month_starts_at = self.month_starts_at.isoformat()

        plan = self.plan

        follows = self.follows

        currency = self.currency

        present_net_minor = self.present_net_minor

        draft_net_minor = self.draft_net_minor

        difference_minor = self.difference_minor

        present_total_minor = self.present_total_minor

        draft_total_minor = self.draft_total_minor

        invoiced_net_minor: int | None
        invoiced_net_minor = self.invoiced_net_minor

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "tenant": tenant,
                "month_starts_at": month_starts_at,
                "plan": plan,
                "follows": follows,
                "currency": currency,
                "present_net_minor": present_net_minor,
                "draft_net_minor": draft_net_minor,
                "difference_minor": difference_minor,
                "present_total_minor": present_total_minor,
                "draft_total_minor": draft_total_minor,
                "invoiced_net_minor": invoiced_net_minor,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        tenant = d.pop("tenant")

        month_starts_at = datetime.datetime.fromisoformat(d.pop("month_starts_at"))

        plan = d.pop("plan")

        follows = d.pop("follows")

        currency = d.pop("currency")

        present_net_minor = d.pop("present_net_minor")

        draft_net_minor = d.pop("draft_net_minor")

        difference_minor = d.pop("difference_minor")

        present_total_minor = d.pop("present_total_minor")

        draft_total_minor = d.pop("draft_total_minor")

        def _parse_invoiced_net_minor(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        invoiced_net_minor = _parse_invoiced_net_minor(d.pop("invoiced_net_minor"))

        back_test_month = cls(
            tenant=tenant,
            month_starts_at=month_starts_at,
            plan=plan,
            follows=follows,
            currency=currency,
            present_net_minor=present_net_minor,
            draft_net_minor=draft_net_minor,
            difference_minor=difference_minor,
            present_total_minor=present_total_minor,
            draft_total_minor=draft_total_minor,
            invoiced_net_minor=invoiced_net_minor,
        )

        back_test_month.additional_properties = d
        return back_test_month

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
