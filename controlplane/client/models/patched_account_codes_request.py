from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.patched_account_codes_request_codes import (
        PatchedAccountCodesRequestCodes,
    )


T = TypeVar("T", bound="PatchedAccountCodesRequest")


@_attrs_define
class PatchedAccountCodesRequest:
    """Codes by account, or by what stands before the colon of several (`revenue`).

    Attributes:
        codes (PatchedAccountCodesRequestCodes | Unset):
    """

    codes: PatchedAccountCodesRequestCodes | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        codes: dict[str, Any] | Unset = UNSET
        if not isinstance(self.codes, Unset):
            codes = self.codes.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if codes is not UNSET:
            field_dict["codes"] = codes

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.patched_account_codes_request_codes import (
            PatchedAccountCodesRequestCodes,  # noqa: PLC0415
        )

        d = dict(src_dict)
        _codes = d.pop("codes", UNSET)
        codes: PatchedAccountCodesRequestCodes | Unset
        if isinstance(_codes, Unset):
            codes = UNSET
        else:
            codes = PatchedAccountCodesRequestCodes.from_dict(_codes)

        patched_account_codes_request = cls(
            codes=codes,
        )

        patched_account_codes_request.additional_properties = d
        return patched_account_codes_request

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
