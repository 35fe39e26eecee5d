from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="PlanChoiceRequest")


@_attrs_define
class PlanChoiceRequest:
    """The key of the plan to subscribe to.

    Attributes:
        plan (str):
        follows (bool | None | Unset): Whether the subscription moves to new versions; null: as it is.
    """

    plan: str
    follows: bool | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        plan = self.plan

        follows: bool | None | Unset
        if isinstance(self.follows, Unset):
            follows = UNSET
        else:
            follows = self.follows

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "plan": plan,
            }
        )
        if follows is not UNSET:
            field_dict["follows"] = follows

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        plan = d.pop("plan")

        def _parse_follows(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        follows = _parse_follows(d.pop("follows", UNSET))

        plan_choice_request = cls(
            plan=plan,
            follows=follows,
        )

        plan_choice_request.additional_properties = d
        return plan_choice_request

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
