from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.patched_address_space_change_request_labels import (
        PatchedAddressSpaceChangeRequestLabels,
    )


T = TypeVar("T", bound="PatchedAddressSpaceChangeRequest")


@_attrs_define
class PatchedAddressSpaceChangeRequest:
    """What changes of a space: its plan, its labels or both; nothing else can change.

    Attributes:
        plan (str | Unset): Another plan for spaces of its type.
        labels (PatchedAddressSpaceChangeRequestLabels | Unset): At most 16 labels {key: value}, such as team: shop. A
            key has lowercase letters, digits, dots, hyphens and underscores; a value may be empty. They replace all labels.
            Absent: the labels stay as they are.
    """

    plan: str | Unset = UNSET
    labels: PatchedAddressSpaceChangeRequestLabels | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        plan = self.plan

        labels: dict[str, Any] | Unset = UNSET
        if not isinstance(self.labels, Unset):
            labels = self.labels.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if plan is not UNSET:
            field_dict["plan"] = plan
        if labels is not UNSET:
            field_dict["labels"] = labels

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.patched_address_space_change_request_labels import (
            PatchedAddressSpaceChangeRequestLabels,  # noqa: PLC0415
        )

        d = dict(src_dict)
        plan = d.pop("plan", UNSET)

        _labels = d.pop("labels", UNSET)
        labels: PatchedAddressSpaceChangeRequestLabels | Unset
        if isinstance(_labels, Unset):
            labels = UNSET
        else:
            labels = PatchedAddressSpaceChangeRequestLabels.from_dict(_labels)

        patched_address_space_change_request = cls(
            plan=plan,
            labels=labels,
        )

        patched_address_space_change_request.additional_properties = d
        return patched_address_space_change_request

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
