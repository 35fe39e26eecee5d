from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.job_enum import JobEnum, check_job_enum

if TYPE_CHECKING:
    from ..models.lakehouse_run_files import LakehouseRunFiles


T = TypeVar("T", bound="LakehouseRun")


@_attrs_define
class LakehouseRun:
    """One run of a job of the lakehouse that ended.

    `samples`, `quarantined` and `new_files` count what is new in it. `as_of` is up to when usage
    was complete afterwards; null after a failure. `files` maps each table to its number of files
    after housekeeping. `error_code` is empty if the run succeeded. `cpu_seconds` leaves executors
    in other pods out.

        Attributes:
            job (JobEnum): * `pipeline` - pipeline
                * `housekeeping` - housekeeping
            started_at (datetime.datetime):
            seconds (float):
            cpu_seconds (float):
            samples (int):
            quarantined (int):
            new_files (int):
            as_of (datetime.datetime | None):
            files (LakehouseRunFiles):
            error_code (str):
    """

    job: JobEnum
    started_at: datetime.datetime
    seconds: float
    cpu_seconds: float
    samples: int
    quarantined: int
    new_files: int
    as_of: datetime.datetime | None
    files: LakehouseRunFiles
    error_code: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        job: str = self.job

        started_at = self.started_at.isoformat()

        seconds = self.seconds

        cpu_seconds = self.cpu_seconds

        samples = self.samples

        quarantined = self.quarantined

        new_files = self.new_files

        as_of: None | str
        if isinstance(self.as_of, datetime.datetime):
            as_of = self.as_of.isoformat()
        else:
            as_of = self.as_of

        files = self.files.to_dict()

        error_code = self.error_code

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "job": job,
                "started_at": started_at,
                "seconds": seconds,
                "cpu_seconds": cpu_seconds,
                "samples": samples,
                "quarantined": quarantined,
                "new_files": new_files,
                "as_of": as_of,
                "files": files,
                "error_code": error_code,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.lakehouse_run_files import LakehouseRunFiles  # noqa: PLC0415

        d = dict(src_dict)
        job = check_job_enum(d.pop("job"))

        started_at = datetime.datetime.fromisoformat(d.pop("started_at"))

        seconds = d.pop("seconds")

        cpu_seconds = d.pop("cpu_seconds")

        samples = d.pop("samples")

        quarantined = d.pop("quarantined")

        new_files = d.pop("new_files")

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

        files = LakehouseRunFiles.from_dict(d.pop("files"))

        error_code = d.pop("error_code")

        lakehouse_run = cls(
            job=job,
            started_at=started_at,
            seconds=seconds,
            cpu_seconds=cpu_seconds,
            samples=samples,
            quarantined=quarantined,
            new_files=new_files,
            as_of=as_of,
            files=files,
            error_code=error_code,
        )

        lakehouse_run.additional_properties = d
        return lakehouse_run

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
