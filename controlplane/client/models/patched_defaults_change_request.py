from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.patched_defaults_change_request_choices import (
        PatchedDefaultsChangeRequestChoices,
    )


T = TypeVar("T", bound="PatchedDefaultsChangeRequest")


@_attrs_define
class PatchedDefaultsChangeRequest:
    """Defaults to change; absent fields and kinds stay as they are.

    Attributes:
        choices (PatchedDefaultsChangeRequestChoices | Unset): By kind: true, false, or null to have no choice of one's
            own.
        budget_minor (int | None | Unset):
    """

    choices: PatchedDefaultsChangeRequestChoices | Unset = UNSET
    budget_minor: int | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        choices: dict[str, Any] | Unset = UNSET
        if not isinstance(self.choices, Unset):
            choices = self.choices.to_dict()

        budget_minor: int | None | Unset
        if isinstance(self.budget_minor, Unset):
            budget_minor = UNSET
        else:
            budget_minor = self.budget_minor

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if choices is not UNSET:
            field_dict["choices"] = choices
        if budget_minor is not UNSET:
            field_dict["budget_minor"] = budget_minor

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.patched_defaults_change_request_choices import (
            PatchedDefaultsChangeRequestChoices,  # noqa: PLC0415
        )

        d = dict(src_dict)
        _choices = d.pop("choices", UNSET)
        choices: PatchedDefaultsChangeRequestChoices | Unset
        if isinstance(_choices, Unset):
            choices = UNSET
        else:
            choices = PatchedDefaultsChangeRequestChoices.from_dict(_choices)

        def _parse_budget_minor(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        budget_minor = _parse_budget_minor(d.pop("budget_minor", UNSET))

        patched_defaults_change_request = cls(
            choices=choices,
            budget_minor=budget_minor,
        )

        patched_defaults_change_request.additional_properties = d
        return patched_defaults_change_request

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
