from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.change import Change
    from ..models.difference import Difference


T = TypeVar("T", bound="Publication")


@_attrs_define
class Publication:
    """The number of the published version, a change for every plan, and the changes in words.

    `number` is null after a dry run, and while the catalog is scheduled. `draft` is the id of the
    draft that was published or scheduled; null after a dry run.

        Attributes:
            number (int | None):
            draft (None | str):
            changes (list[Change]):
            differences (list[Difference]):
    """

    number: int | None
    draft: None | str
    changes: list[Change]
    differences: list[Difference]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        number: int | None
        number = self.number

        draft: None | str
        draft = self.draft

        changes = []
        for changes_item_data in self.changes:
            changes_item = changes_item_data.to_dict()
            changes.append(changes_item)

        differences = []
        for differences_item_data in self.differences:
            differences_item = differences_item_data.to_dict()
            differences.append(differences_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "number": number,
                "draft": draft,
                "changes": changes,
                "differences": differences,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.change import Change  # noqa: PLC0415
        from ..models.difference import Difference  # noqa: PLC0415

        d = dict(src_dict)

        def _parse_number(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        number = _parse_number(d.pop("number"))

        def _parse_draft(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        draft = _parse_draft(d.pop("draft"))

        changes = []
        _changes = d.pop("changes")
        for changes_item_data in _changes:
            changes_item = Change.from_dict(changes_item_data)

            changes.append(changes_item)

        differences = []
        _differences = d.pop("differences")
        for differences_item_data in _differences:
            differences_item = Difference.from_dict(differences_item_data)

            differences.append(differences_item)

        publication = cls(
            number=number,
            draft=draft,
            changes=changes,
            differences=differences,
        )

        publication.additional_properties = d
        return publication

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
