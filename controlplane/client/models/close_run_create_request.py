from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="CloseRunCreateRequest")


@_attrs_define
class CloseRunCreateRequest:
    """What a close run closes: all due periods, unless something narrower is named.

    `tenants` are slugs; empty: all tenants. `skip_grace` also closes periods that are over but
    whose grace period is not. `again` closes held invoices again, and no new periods.

        Attributes:
            tenants (list[str] | Unset):
            skip_grace (bool | Unset):
            again (bool | Unset):
    """

    tenants: list[str] | Unset = UNSET
    skip_grace: bool | Unset = UNSET
    again: bool | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        tenants: list[str] | Unset = UNSET
        if not isinstance(self.tenants, Unset):
            tenants = self.tenants

        skip_grace = self.skip_grace

        again = self.again

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if tenants is not UNSET:
            field_dict["tenants"] = tenants
        if skip_grace is not UNSET:
            field_dict["skip_grace"] = skip_grace
        if again is not UNSET:
            field_dict["again"] = again

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        tenants = cast(list[str], d.pop("tenants", UNSET))

        skip_grace = d.pop("skip_grace", UNSET)

        again = d.pop("again", UNSET)

        close_run_create_request = cls(
            tenants=tenants,
            skip_grace=skip_grace,
            again=again,
        )

        close_run_create_request.additional_properties = d
        return close_run_create_request

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
