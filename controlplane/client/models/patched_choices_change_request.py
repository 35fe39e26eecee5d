from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.patched_choices_change_request_choices import (
        PatchedChoicesChangeRequestChoices,
    )


T = TypeVar("T", bound="PatchedChoicesChangeRequest")


@_attrs_define
class PatchedChoicesChangeRequest:
    """Choices to change; kinds that are not named stay as they are.

    Attributes:
        choices (PatchedChoicesChangeRequestChoices | Unset): By kind: true, false, or null to have no choice of one's
            own.
    """

    choices: PatchedChoicesChangeRequestChoices | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        choices: dict[str, Any] | Unset = UNSET
        if not isinstance(self.choices, Unset):
            choices = self.choices.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if choices is not UNSET:
            field_dict["choices"] = choices

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.patched_choices_change_request_choices import (
            PatchedChoicesChangeRequestChoices,  # noqa: PLC0415
        )

        d = dict(src_dict)
        _choices = d.pop("choices", UNSET)
        choices: PatchedChoicesChangeRequestChoices | Unset
        if isinstance(_choices, Unset):
            choices = UNSET
        else:
            choices = PatchedChoicesChangeRequestChoices.from_dict(_choices)

        patched_choices_change_request = cls(
            choices=choices,
        )

        patched_choices_change_request.additional_properties = d
        return patched_choices_change_request

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
