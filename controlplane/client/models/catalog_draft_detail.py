from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.catalog_draft_state import CatalogDraftState, check_catalog_draft_state
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.difference import Difference


T = TypeVar("T", bound="CatalogDraftDetail")


@_attrs_define
class CatalogDraftDetail:
    """A draft with its text, and what it changes of the catalog in force.

    A published draft is compared with the catalog that it replaced.

        Attributes:
            id (str):
            state (CatalogDraftState): * `draft` - Draft
                * `scheduled` - Scheduled
                * `published` - Published
                * `canceled` - Canceled
            note (str):
            made_by (str):
            created_at (datetime.datetime):
            scheduled_by (str):
            effective_at (datetime.datetime | None):
            follows_at (datetime.datetime | None):
            at_period (bool):
            yaml (str):
            differences (list[Difference]):
            number (int | None | Unset):
    """

    id: str
    state: CatalogDraftState
    note: str
    made_by: str
    created_at: datetime.datetime
    scheduled_by: str
    effective_at: datetime.datetime | None
    follows_at: datetime.datetime | None
    at_period: bool
    yaml: str
    differences: list[Difference]
    number: int | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        state: str = self.state

        note = self.note

        made_by = self.made_by

        created_at = self.created_at.isoformat()

        scheduled_by = self.scheduled_by

        effective_at: None | str
        if isinstance(self.effective_at, datetime.datetime):
            effective_at = self.effective_at.isoformat()
        else:
            effective_at = self.effective_at

        follows_at: None | str
        if isinstance(self.follows_at, datetime.datetime):
            follows_at = self.follows_at.isoformat()
        else:
            follows_at = self.follows_at

        at_period = self.at_period

        yaml = self.yaml

        differences = []
        for differences_item_data in self.differences:
            differences_item = differences_item_data.to_dict()
            differences.append(differences_item)

        number: int | None | Unset
        if isinstance(self.number, Unset):
            number = UNSET
        else:
            number = self.number

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "state": state,
                "note": note,
                "made_by": made_by,
                "created_at": created_at,
                "scheduled_by": scheduled_by,
                "effective_at": effective_at,
                "follows_at": follows_at,
                "at_period": at_period,
                "yaml": yaml,
                "differences": differences,
            }
        )
        if number is not UNSET:
            field_dict["number"] = number

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.difference import Difference  # noqa: PLC0415

        d = dict(src_dict)
        id = d.pop("id")

        state = check_catalog_draft_state(d.pop("state"))

        note = d.pop("note")

        made_by = d.pop("made_by")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        scheduled_by = d.pop("scheduled_by")

        def _parse_effective_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                effective_at_type_0 = datetime.datetime.fromisoformat(data)

                return effective_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        effective_at = _parse_effective_at(d.pop("effective_at"))

        def _parse_follows_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                follows_at_type_0 = datetime.datetime.fromisoformat(data)

                return follows_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        follows_at = _parse_follows_at(d.pop("follows_at"))

        at_period = d.pop("at_period")

        yaml = d.pop("yaml")

        differences = []
        _differences = d.pop("differences")
        for differences_item_data in _differences:
            differences_item = Difference.from_dict(differences_item_data)

            differences.append(differences_item)

        def _parse_number(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        number = _parse_number(d.pop("number", UNSET))

        catalog_draft_detail = cls(
            id=id,
            state=state,
            note=note,
            made_by=made_by,
            created_at=created_at,
            scheduled_by=scheduled_by,
            effective_at=effective_at,
            follows_at=follows_at,
            at_period=at_period,
            yaml=yaml,
            differences=differences,
            number=number,
        )

        catalog_draft_detail.additional_properties = d
        return catalog_draft_detail

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
