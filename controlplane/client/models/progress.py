from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Progress")


@_attrs_define
class Progress:
    """The numbers of spaces by their progress in the rollout.

    `done` run the release. `waiting` have not got it yet, or were down when they got it. `changing`
    have got it and may still become ready in time. `failed` did not, or cannot start with it.
    `total` also counts new spaces that were never ready, which no other number counts.

        Attributes:
            total (int):
            done (int):
            waiting (int):
            changing (int):
            failed (int):
    """

    total: int
    done: int
    waiting: int
    changing: int
    failed: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        total = self.total

        done = self.done

        waiting = self.waiting

        changing = self.changing

        failed = self.failed

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "total": total,
                "done": done,
                "waiting": waiting,
                "changing": changing,
                "failed": failed,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        total = d.pop("total")

        done = d.pop("done")

        waiting = d.pop("waiting")

        changing = d.pop("changing")

        failed = d.pop("failed")

        progress = cls(
            total=total,
            done=done,
            waiting=waiting,
            changing=changing,
            failed=failed,
        )

        progress.additional_properties = d
        return progress

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
