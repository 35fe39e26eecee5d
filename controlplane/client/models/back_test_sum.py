from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="BackTestSum")


@_attrs_define
class BackTestSum:
    """Months of one plan, summed; `plan` is empty for the sum over all plans.

    Amounts are net, in minor units of `currency`. `n_less` months cost less under the draft.
    `followers_minor` is the part of the difference of subscriptions that follow their plan.

        Attributes:
            plan (str):
            currency (str):
            n_tenants (int):
            n_months (int):
            n_less (int):
            n_more (int):
            present_minor (int):
            draft_minor (int):
            difference_minor (int):
            followers_minor (int):
    """

    plan: str
    currency: str
    n_tenants: int
    n_months: int
    n_less: int
    n_more: int
    present_minor: int
    draft_minor: int
    difference_minor: int
    followers_minor: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        plan = self.plan

        currency = self.currency

        n_tenants = self.n_tenants

        n_months = self.n_months

        n_less = self.n_less

        n_more = self.n_more

        present_minor = self.present_minor

        draft_minor = self.draft_minor

        difference_minor = self.difference_minor

        followers_minor = self.followers_minor

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "plan": plan,
                "currency": currency,
                "n_tenants": n_tenants,
                "n_months": n_months,
                "n_less": n_less,
                "n_more": n_more,
                "present_minor": present_minor,
                "draft_minor": draft_minor,
                "difference_minor": difference_minor,
                "followers_minor": followers_minor,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        plan = d.pop("plan")

        currency = d.pop("currency")

        n_tenants = d.pop("n_tenants")

        n_months = d.pop("n_months")

        n_less = d.pop("n_less")

        n_more = d.pop("n_more")

        present_minor = d.pop("present_minor")

        draft_minor = d.pop("draft_minor")

        difference_minor = d.pop("difference_minor")

        followers_minor = d.pop("followers_minor")

        back_test_sum = cls(
            plan=plan,
            currency=currency,
            n_tenants=n_tenants,
            n_months=n_months,
            n_less=n_less,
            n_more=n_more,
            present_minor=present_minor,
            draft_minor=draft_minor,
            difference_minor=difference_minor,
            followers_minor=followers_minor,
        )

        back_test_sum.additional_properties = d
        return back_test_sum

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
