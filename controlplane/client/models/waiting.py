from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Waiting")


@_attrs_define
class Waiting:
    """Samples that are not in the lakehouse yet.

    `batches_without_file` of the `batches` are not written to a file yet. `oldest_at` is null if
    nothing waits.

        Attributes:
            batches (int):
            samples (int):
            batches_without_file (int):
            oldest_at (datetime.datetime | None):
    """

    batches: int
    samples: int
    batches_without_file: int
    oldest_at: datetime.datetime | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        batches = self.batches

        samples = self.samples

        batches_without_file = self.batches_without_file

        oldest_at: None | str
        if isinstance(self.oldest_at, datetime.datetime):
            oldest_at = self.oldest_at.isoformat()
        else:
            oldest_at = self.oldest_at

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "batches": batches,
                "samples": samples,
                "batches_without_file": batches_without_file,
                "oldest_at": oldest_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        batches = d.pop("batches")

        samples = d.pop("samples")

        batches_without_file = d.pop("batches_without_file")

        def _parse_oldest_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                oldest_at_type_0 = datetime.datetime.fromisoformat(data)

                return oldest_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        oldest_at = _parse_oldest_at(d.pop("oldest_at"))

        waiting = cls(
            batches=batches,
            samples=samples,
            batches_without_file=batches_without_file,
            oldest_at=oldest_at,
        )

        waiting.additional_properties = d
        return waiting

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
