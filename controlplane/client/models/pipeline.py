from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.lakehouse_run import LakehouseRun
    from ..models.waiting import Waiting


T = TypeVar("T", bound="Pipeline")


@_attrs_define
class Pipeline:
    """The pipeline now.

    `as_of` is up to when usage is complete, and `lag_seconds` its age; both are null before the
    first run. `newest` is the newest run of the pipeline, `succeeded` the newest that did not fail,
    `housekeeping` the newest housekeeping that did not fail.

        Attributes:
            as_of (datetime.datetime | None):
            lag_seconds (int | None): Return the age of ``as_of`` in whole seconds.
            waiting (Waiting): Samples that are not in the lakehouse yet.

                `batches_without_file` of the `batches` are not written to a file yet. `oldest_at` is null if
                nothing waits.
            newest (LakehouseRun | None):
            succeeded (LakehouseRun | None):
            housekeeping (LakehouseRun | None):
            quarantined_in_24_hours (int):
    """

    as_of: datetime.datetime | None
    lag_seconds: int | None
    waiting: Waiting
    newest: LakehouseRun | None
    succeeded: LakehouseRun | None
    housekeeping: LakehouseRun | None
    quarantined_in_24_hours: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.lakehouse_run import LakehouseRun  # noqa: PLC0415

        as_of: None | str
        if isinstance(self.as_of, datetime.datetime):
            as_of = self.as_of.isoformat()
        else:
            as_of = self.as_of

        lag_seconds: int | None
        lag_seconds = self.lag_seconds

        waiting = self.waiting.to_dict()

        newest: dict[str, Any] | None
        if isinstance(self.newest, LakehouseRun):
            newest = self.newest.to_dict()
        else:
            newest = self.newest

        succeeded: dict[str, Any] | None
        if isinstance(self.succeeded, LakehouseRun):
            succeeded = self.succeeded.to_dict()
        else:
            succeeded = self.succeeded

        housekeeping: dict[str, Any] | None
        if isinstance(self.housekeeping, LakehouseRun):
            housekeeping = self.housekeeping.to_dict()
        else:
            housekeeping = self.housekeeping

        quarantined_in_24_hours = self.quarantined_in_24_hours

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "as_of": as_of,
                "lag_seconds": lag_seconds,
                "waiting": waiting,
                "newest": newest,
                "succeeded": succeeded,
                "housekeeping": housekeeping,
                "quarantined_in_24_hours": quarantined_in_24_hours,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.lakehouse_run import LakehouseRun  # noqa: PLC0415
        from ..models.waiting import Waiting  # noqa: PLC0415

        d = dict(src_dict)

        def _parse_as_of(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                as_of_type_0 = datetime.datetime.fromisoformat(data)

                return as_of_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        as_of = _parse_as_of(d.pop("as_of"))

        def _parse_lag_seconds(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        lag_seconds = _parse_lag_seconds(d.pop("lag_seconds"))

        waiting = Waiting.from_dict(d.pop("waiting"))

        def _parse_newest(data: object) -> LakehouseRun | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                newest_type_0 = LakehouseRun.from_dict(data)

                return newest_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(LakehouseRun | None, data)

        newest = _parse_newest(d.pop("newest"))

        def _parse_succeeded(data: object) -> LakehouseRun | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                succeeded_type_0 = LakehouseRun.from_dict(data)

                return succeeded_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(LakehouseRun | None, data)

        succeeded = _parse_succeeded(d.pop("succeeded"))

        def _parse_housekeeping(data: object) -> LakehouseRun | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                housekeeping_type_0 = LakehouseRun.from_dict(data)

                return housekeeping_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(LakehouseRun | None, data)

        housekeeping = _parse_housekeeping(d.pop("housekeeping"))

        quarantined_in_24_hours = d.pop("quarantined_in_24_hours")

        pipeline = cls(
            as_of=as_of,
            lag_seconds=lag_seconds,
            waiting=waiting,
            newest=newest,
            succeeded=succeeded,
            housekeeping=housekeeping,
            quarantined_in_24_hours=quarantined_in_24_hours,
        )

        pipeline.additional_properties = d
        return pipeline

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
