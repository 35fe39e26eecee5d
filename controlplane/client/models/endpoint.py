from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Endpoint")


@_attrs_define
class Endpoint:
    """A host and port where clients of a space connect, and which authorities they must trust.

    Attributes:
        name (str):
        protocol (str):
        host (str):
        port (int):
        certificate_pem (str): The certificate authorities to trust (PEM); empty where clients trust the signer already.
    """

    name: str
    protocol: str
    host: str
    port: int
    certificate_pem: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        protocol = self.protocol

        host = self.host

        port = self.port

        certificate_pem = self.certificate_pem

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "name": name,
                "protocol": protocol,
                "host": host,
                "port": port,
                "certificate_pem": certificate_pem,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        name = d.pop("name")

        protocol = d.pop("protocol")

        host = d.pop("host")

        port = d.pop("port")

        certificate_pem = d.pop("certificate_pem")

        endpoint = cls(
            name=name,
            protocol=protocol,
            host=host,
            port=port,
            certificate_pem=certificate_pem,
        )

        endpoint.additional_properties = d
        return endpoint

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
