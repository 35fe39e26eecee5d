from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.operations_enum import OperationsEnum, check_operations_enum

T = TypeVar("T", bound="GrantRequest")


@_attrs_define
class GrantRequest:
    """Operations that a user may perform on addresses, which are names or patterns.

    In a pattern `*` is one level of a name, and `#` any number of levels at its end. In brokered
    spaces a client may also subscribe to a filter of topics, written in the same way, if a single
    pattern of its user with `recv` covers the filter.

        Attributes:
            addresses (list[str]):
            operations (list[OperationsEnum]):
    """

    addresses: list[str]
    operations: list[OperationsEnum]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        addresses = self.addresses

        operations = []
        for operations_item_data in self.operations:
            operations_item: str = operations_item_data
            operations.append(operations_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "addresses": addresses,
                "operations": operations,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        addresses = cast(list[str], d.pop("addresses"))

        operations = []
        _operations = d.pop("operations")
        for operations_item_data in _operations:
            operations_item = check_operations_enum(operations_item_data)

            operations.append(operations_item)

        grant_request = cls(
            addresses=addresses,
            operations=operations,
        )

        grant_request.additional_properties = d
        return grant_request

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
