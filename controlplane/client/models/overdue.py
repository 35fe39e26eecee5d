from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Overdue")


@_attrs_define
class Overdue:
    """An unpaid invoice whose day by which to pay is over.

    `limit_at` and `suspend_at` are when sending stops and connections are refused, as the tenant
    got notice of it. Null: never, or the tenant got no notice yet. `pause` is why dunning is
    paused.

        Attributes:
            tenant (str):
            invoice (str):
            number (str):
            currency (str):
            outstanding_minor (int):
            due_at (datetime.datetime):
            noticed_at (datetime.datetime | None):
            limit_at (datetime.datetime | None):
            suspend_at (datetime.datetime | None):
            stage (str):
            pause (None | str):
    """

    tenant: str
    invoice: str
    number: str
    currency: str
    outstanding_minor: int
    due_at: datetime.datetime
    noticed_at: datetime.datetime | None
    limit_at: datetime.datetime | None
    suspend_at: datetime.datetime | None
    stage: str
    pause: None | str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        tenant = self.tenant

        invoice = self.invoice

        number = self.number

        currency = self.currency

        outstanding_minor = self.outstanding_minor

        due_at = self.due_at.isoformat()

        noticed_at: None | str
        if isinstance(self.noticed_at, datetime.datetime):
            noticed_at = self.noticed_at.isoformat()
        else:
            noticed_at = self.noticed_at

        limit_at: None | str
        if isinstance(self.limit_at, datetime.datetime):
            limit_at = self.limit_at.isoformat()
        else:
            limit_at = self.limit_at

        suspend_at: None | str
        if isinstance(self.suspend_at, datetime.datetime):
            suspend_at = self.suspend_at.isoformat()
        else:
            suspend_at = self.suspend_at

        stage = self.stage

        pause: None | str
        pause = self.pause

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "tenant": tenant,
                "invoice": invoice,
                "number": number,
                "currency": currency,
                "outstanding_minor": outstanding_minor,
                "due_at": due_at,
                "noticed_at": noticed_at,
                "limit_at": limit_at,
                "suspend_at": suspend_at,
                "stage": stage,
                "pause": pause,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        tenant = d.pop("tenant")

        invoice = d.pop("invoice")

        number = d.pop("number")

        currency = d.pop("currency")

        outstanding_minor = d.pop("outstanding_minor")

        due_at = datetime.datetime.fromisoformat(d.pop("due_at"))

        def _parse_noticed_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                noticed_at_type_0 = datetime.datetime.fromisoformat(data)

                return noticed_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        noticed_at = _parse_noticed_at(d.pop("noticed_at"))

        def _parse_limit_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                limit_at_type_0 = datetime.datetime.fromisoformat(data)

                return limit_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        limit_at = _parse_limit_at(d.pop("limit_at"))

        def _parse_suspend_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                suspend_at_type_0 = datetime.datetime.fromisoformat(data)

                return suspend_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        suspend_at = _parse_suspend_at(d.pop("suspend_at"))

        stage = d.pop("stage")

        def _parse_pause(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        pause = _parse_pause(d.pop("pause"))

        overdue = cls(
            tenant=tenant,
            invoice=invoice,
            number=number,
            currency=currency,
            outstanding_minor=outstanding_minor,
            due_at=due_at,
            noticed_at=noticed_at,
            limit_at=limit_at,
            suspend_at=suspend_at,
            stage=stage,
            pause=pause,
        )

        overdue.additional_properties = d
        return overdue

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
