from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.reason_enum import ReasonEnum, check_reason_enum

T = TypeVar("T", bound="QuarantinedSample")


@_attrs_define
class QuarantinedSample:
    """A sample that the pipeline refused, or one after a counter reset, which is never billed.

    Columns that the sample lacks are empty or null. `copied_at` is when a worker found it.

        Attributes:
            copied_at (datetime.datetime):
            taken_at (datetime.datetime | None):
            reason (ReasonEnum): * `null` - null
                * `negative` - negative
                * `time` - time
                * `date` - date
                * `fall` - fall
            detail (str):
            tenant_id (str):
            space_id (str):
            source (str):
            boot_id (str):
            address (str):
            seq (int | None):
            epoch (int | None):
            batch_id (str):
    """

    copied_at: datetime.datetime
    taken_at: datetime.datetime | None
    reason: ReasonEnum
    detail: str
    tenant_id: str
    space_id: str
    source: str
    boot_id: str
    address: str
    seq: int | None
    epoch: int | None
    batch_id: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        copied_at = self.copied_at.isoformat()

        taken_at: None | str
        if isinstance(self.taken_at, datetime.datetime):
            taken_at = self.taken_at.isoformat()
        else:
            taken_at = self.taken_at

        reason: str = self.reason

        detail = self.detail

        tenant_id = self.tenant_id

        space_id = self.space_id

        source = self.source

        boot_id = self.boot_id

        address = self.address

        seq: int | None
        seq = self.seq

        epoch: int | None
        epoch = self.epoch

        batch_id = self.batch_id

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "copied_at": copied_at,
                "taken_at": taken_at,
                "reason": reason,
                "detail": detail,
                "tenant_id": tenant_id,
                "space_id": space_id,
                "source": source,
                "boot_id": boot_id,
                "address": address,
                "seq": seq,
                "epoch": epoch,
                "batch_id": batch_id,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        copied_at = datetime.datetime.fromisoformat(d.pop("copied_at"))

        def _parse_taken_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                taken_at_type_0 = datetime.datetime.fromisoformat(data)

                return taken_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        taken_at = _parse_taken_at(d.pop("taken_at"))

        reason = check_reason_enum(d.pop("reason"))

        detail = d.pop("detail")

        tenant_id = d.pop("tenant_id")

        space_id = d.pop("space_id")

        source = d.pop("source")

        boot_id = d.pop("boot_id")

        address = d.pop("address")

        def _parse_seq(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        seq = _parse_seq(d.pop("seq"))

        def _parse_epoch(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        epoch = _parse_epoch(d.pop("epoch"))

        batch_id = d.pop("batch_id")

        quarantined_sample = cls(
            copied_at=copied_at,
            taken_at=taken_at,
            reason=reason,
            detail=detail,
            tenant_id=tenant_id,
            space_id=space_id,
            source=source,
            boot_id=boot_id,
            address=address,
            seq=seq,
            epoch=epoch,
            batch_id=batch_id,
        )

        quarantined_sample.additional_properties = d
        return quarantined_sample

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
