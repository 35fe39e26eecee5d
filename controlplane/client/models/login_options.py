from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.device_option import DeviceOption


T = TypeVar("T", bound="LoginOptions")


@_attrs_define
class LoginOptions:
    """How people can log in. `device` is null where the command cannot use the provider.

    Attributes:
        local_accounts (bool):
        device (DeviceOption | None):
    """

    local_accounts: bool
    device: DeviceOption | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.device_option import DeviceOption  # noqa: PLC0415

        local_accounts = self.local_accounts

        device: dict[str, Any] | None
        if isinstance(self.device, DeviceOption):
            device = self.device.to_dict()
        else:
            device = self.device

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "local_accounts": local_accounts,
                "device": device,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.device_option import DeviceOption  # noqa: PLC0415

        d = dict(src_dict)
        local_accounts = d.pop("local_accounts")

        def _parse_device(data: object) -> DeviceOption | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                device_type_0 = DeviceOption.from_dict(data)

                return device_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(DeviceOption | None, data)

        device = _parse_device(d.pop("device"))

        login_options = cls(
            local_accounts=local_accounts,
            device=device,
        )

        login_options.additional_properties = d
        return login_options

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
