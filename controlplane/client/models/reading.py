from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.hour import Hour
    from ..models.reading_from_samples import ReadingFromSamples


T = TypeVar("T", bound="Reading")


@_attrs_define
class Reading:
    """What a worker has read of a part of an invoice's period, at the versions that it pins.

    `sample_hash` is the hash of all samples of the part. The hashes of parts add up: each word of
    eight digits modulo 2^32. The hashes of all hours of the invoice add up to
    `manifest.sample_hash` of its document. `from_samples` is the usage by meter, from the samples
    alone.

        Attributes:
            id (str):
            starts_at (datetime.datetime):
            ends_at (datetime.datetime):
            first (int):
            finished_at (datetime.datetime | None):
            n_samples (int):
            sample_hash (str):
            n_counters (int):
            from_samples (ReadingFromSamples):
            hours (list[Hour]):
    """

    id: str
    starts_at: datetime.datetime
    ends_at: datetime.datetime
    first: int
    finished_at: datetime.datetime | None
    n_samples: int
    sample_hash: str
    n_counters: int
    from_samples: ReadingFromSamples
    hours: list[Hour]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        starts_at = self.starts_at.isoformat()

        ends_at = self.ends_at.isoformat()

        first = self.first

        finished_at: None | str
        if isinstance(self.finished_at, datetime.datetime):
            finished_at = self.finished_at.isoformat()
        else:
            finished_at = self.finished_at

        n_samples = self.n_samples

        sample_hash = self.sample_hash

        n_counters = self.n_counters

        from_samples = self.from_samples.to_dict()

        hours = []
        for hours_item_data in self.hours:
            hours_item = hours_item_data.to_dict()
            hours.append(hours_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "starts_at": starts_at,
                "ends_at": ends_at,
                "first": first,
                "finished_at": finished_at,
                "n_samples": n_samples,
                "sample_hash": sample_hash,
                "n_counters": n_counters,
                "from_samples": from_samples,
                "hours": hours,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.hour import Hour  # noqa: PLC0415
        from ..models.reading_from_samples import ReadingFromSamples  # noqa: PLC0415

        d = dict(src_dict)
        id = d.pop("id")

        starts_at = datetime.datetime.fromisoformat(d.pop("starts_at"))

        ends_at = datetime.datetime.fromisoformat(d.pop("ends_at"))

        first = d.pop("first")

        def _parse_finished_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                finished_at_type_0 = datetime.datetime.fromisoformat(data)

                return finished_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        finished_at = _parse_finished_at(d.pop("finished_at"))

        n_samples = d.pop("n_samples")

        sample_hash = d.pop("sample_hash")

        n_counters = d.pop("n_counters")

        from_samples = ReadingFromSamples.from_dict(d.pop("from_samples"))

        hours = []
        _hours = d.pop("hours")
        for hours_item_data in _hours:
            hours_item = Hour.from_dict(hours_item_data)

            hours.append(hours_item)

        reading = cls(
            id=id,
            starts_at=starts_at,
            ends_at=ends_at,
            first=first,
            finished_at=finished_at,
            n_samples=n_samples,
            sample_hash=sample_hash,
            n_counters=n_counters,
            from_samples=from_samples,
            hours=hours,
        )

        reading.additional_properties = d
        return reading

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
