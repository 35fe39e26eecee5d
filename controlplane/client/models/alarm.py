from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.metric_enum import MetricEnum, check_metric_enum

T = TypeVar("T", bound="Alarm")


@_attrs_define
class Alarm:
    """An alarm of an address. `raised_at` is null while it is not raised.

    Attributes:
        id (str):
        address (str):
        metric (MetricEnum): * `depth` - Depth
            * `age` - Age
        threshold (int):
        clear_below (int):
        for_seconds (int):
        raised_at (datetime.datetime | None):
        breached_since (datetime.datetime | None):
        last_value (int | None): The value when the alarm was last evaluated.
        generation (int):
        created_at (datetime.datetime):
    """

    id: str
    address: str
    metric: MetricEnum
    threshold: int
    clear_below: int
    for_seconds: int
    raised_at: datetime.datetime | None
    breached_since: datetime.datetime | None
    last_value: int | None
    generation: int
    created_at: datetime.datetime
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        address = self.address

        metric: str = self.metric

        threshold = self.threshold

        clear_below = self.clear_below

        for_seconds = self.for_seconds

        raised_at: None | str
        if isinstance(self.raised_at, datetime.datetime):
            raised_at = self.raised_at.isoformat()
        else:
            raised_at = self.raised_at

        breached_since: None | str
        if isinstance(self.breached_since, datetime.datetime):
            breached_since = self.breached_since.isoformat()
        else:
            breached_since = self.breached_since

        last_value: int | None
        last_value = self.last_value

        generation = self.generation

        created_at = self.created_at.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "address": address,
                "metric": metric,
                "threshold": threshold,
                "clear_below": clear_below,
                "for_seconds": for_seconds,
                "raised_at": raised_at,
                "breached_since": breached_since,
                "last_value": last_value,
                "generation": generation,
                "created_at": created_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = d.pop("id")

        address = d.pop("address")

        metric = check_metric_enum(d.pop("metric"))

        threshold = d.pop("threshold")

        clear_below = d.pop("clear_below")

        for_seconds = d.pop("for_seconds")

        def _parse_raised_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                raised_at_type_0 = datetime.datetime.fromisoformat(data)

                return raised_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        raised_at = _parse_raised_at(d.pop("raised_at"))

        def _parse_breached_since(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                breached_since_type_0 = datetime.datetime.fromisoformat(data)

                return breached_since_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        breached_since = _parse_breached_since(d.pop("breached_since"))

        def _parse_last_value(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        last_value = _parse_last_value(d.pop("last_value"))

        generation = d.pop("generation")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        alarm = cls(
            id=id,
            address=address,
            metric=metric,
            threshold=threshold,
            clear_below=clear_below,
            for_seconds=for_seconds,
            raised_at=raised_at,
            breached_since=breached_since,
            last_value=last_value,
            generation=generation,
            created_at=created_at,
        )

        alarm.additional_properties = d
        return alarm

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
