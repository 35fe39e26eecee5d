from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.space_type import SpaceType, check_space_type
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.address_space_create_request_labels import (
        AddressSpaceCreateRequestLabels,
    )


T = TypeVar("T", bound="AddressSpaceCreateRequest")


@_attrs_define
class AddressSpaceCreateRequest:
    """A space to create. Its name and type can never change; its plan can.

    Attributes:
        name (str):
        type_ (SpaceType): * `standard` - Standard
            * `brokered` - Brokered
        plan (str): A space plan, e.g. brokered-small.
        labels (AddressSpaceCreateRequestLabels | Unset): At most 16 labels {key: value}, such as team: shop. A key has
            lowercase letters, digits, dots, hyphens and underscores; a value may be empty. They replace all labels. Absent:
            the labels stay as they are.
        dead_letters (bool | None | Unset): Whether to create the address `dead-letters`, which takes the rejected and
            expired messages of new queues and topics. Null or absent: if the tenant's plan includes an address plan for it.
    """

    name: str
    type_: SpaceType
    plan: str
    labels: AddressSpaceCreateRequestLabels | Unset = UNSET
    dead_letters: bool | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        type_: str = self.type_

        plan = self.plan

        labels: dict[str, Any] | Unset = UNSET
        if not isinstance(self.labels, Unset):
            labels = self.labels.to_dict()

        dead_letters: bool | None | Unset
        if isinstance(self.dead_letters, Unset):
            dead_letters = UNSET
        else:
            dead_letters = self.dead_letters

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "name": name,
                "type": type_,
                "plan": plan,
            }
        )
        if labels is not UNSET:
            field_dict["labels"] = labels
        if dead_letters is not UNSET:
            field_dict["dead_letters"] = dead_letters

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.address_space_create_request_labels import (
            AddressSpaceCreateRequestLabels,  # noqa: PLC0415
        )

        d = dict(src_dict)
        name = d.pop("name")

        type_ = check_space_type(d.pop("type"))

        plan = d.pop("plan")

        _labels = d.pop("labels", UNSET)
        labels: AddressSpaceCreateRequestLabels | Unset
        if isinstance(_labels, Unset):
            labels = UNSET
        else:
            labels = AddressSpaceCreateRequestLabels.from_dict(_labels)

        def _parse_dead_letters(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        dead_letters = _parse_dead_letters(d.pop("dead_letters", UNSET))

        address_space_create_request = cls(
            name=name,
            type_=type_,
            plan=plan,
            labels=labels,
            dead_letters=dead_letters,
        )

        address_space_create_request.additional_properties = d
        return address_space_create_request

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
