from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.account_codes_request_codes import AccountCodesRequestCodes


T = TypeVar("T", bound="AccountCodesRequest")


@_attrs_define
class AccountCodesRequest:
    """Codes by account, or by group: the part before the colon, such as `revenue`.

    Attributes:
        codes (AccountCodesRequestCodes):
    """

    codes: AccountCodesRequestCodes
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        codes = self.codes.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "codes": codes,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.account_codes_request_codes import AccountCodesRequestCodes  # noqa: PLC0415

        d = dict(src_dict)
        codes = AccountCodesRequestCodes.from_dict(d.pop("codes"))

        account_codes_request = cls(
            codes=codes,
        )

        account_codes_request.additional_properties = d
        return account_codes_request

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
