from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.rollout_state import RolloutState, check_rollout_state

if TYPE_CHECKING:
    from ..models.failure import Failure
    from ..models.progress import Progress
    from ..models.release import Release


T = TypeVar("T", bound="Rollout")


@_attrs_define
class Rollout:
    """The latest rollout: its release, its state, its progress and its failed spaces.

    `former` is the release to which a roll-back would go; null if there is none.

        Attributes:
            state (RolloutState): * `Running` - Running
                * `Paused` - Paused
                * `Stopped` - Stopped
                * `Done` - Done
                * `Superseded` - Superseded
            reason (str):
            release (Release): One release, with its images of brokers and routers.
            former (None | Release):
            started_at (datetime.datetime):
            ended_at (datetime.datetime | None):
            progress (Progress): The numbers of spaces by their progress in the rollout.

                `done` run the release. `waiting` have not got it yet, or were down when they got it. `changing`
                have got it and may still become ready in time. `failed` did not, or cannot start with it.
                `total` also counts new spaces that were never ready, which no other number counts.
            failures (list[Failure]):
    """

    state: RolloutState
    reason: str
    release: Release
    former: None | Release
    started_at: datetime.datetime
    ended_at: datetime.datetime | None
    progress: Progress
    failures: list[Failure]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.release import Release  # noqa: PLC0415

        state: str = self.state

        reason = self.reason

        release = self.release.to_dict()

        former: dict[str, Any] | None
        if isinstance(self.former, Release):
            former = self.former.to_dict()
        else:
            former = self.former

        started_at = self.started_at.isoformat()

        ended_at: None | str
        if isinstance(self.ended_at, datetime.datetime):
            ended_at = self.ended_at.isoformat()
        else:
            ended_at = self.ended_at

        progress = self.progress.to_dict()

        failures = []
        for failures_item_data in self.failures:
            failures_item = failures_item_data.to_dict()
            failures.append(failures_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "state": state,
                "reason": reason,
                "release": release,
                "former": former,
                "started_at": started_at,
                "ended_at": ended_at,
                "progress": progress,
                "failures": failures,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.failure import Failure  # noqa: PLC0415
        from ..models.progress import Progress  # noqa: PLC0415
        from ..models.release import Release  # noqa: PLC0415

        d = dict(src_dict)
        state = check_rollout_state(d.pop("state"))

        reason = d.pop("reason")

        release = Release.from_dict(d.pop("release"))

        def _parse_former(data: object) -> None | Release:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                former_type_0 = Release.from_dict(data)

                return former_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | Release, data)

        former = _parse_former(d.pop("former"))

        started_at = datetime.datetime.fromisoformat(d.pop("started_at"))

        def _parse_ended_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                ended_at_type_0 = datetime.datetime.fromisoformat(data)

                return ended_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        ended_at = _parse_ended_at(d.pop("ended_at"))

        progress = Progress.from_dict(d.pop("progress"))

        failures = []
        _failures = d.pop("failures")
        for failures_item_data in _failures:
            failures_item = Failure.from_dict(failures_item_data)

            failures.append(failures_item)

        rollout = cls(
            state=state,
            reason=reason,
            release=release,
            former=former,
            started_at=started_at,
            ended_at=ended_at,
            progress=progress,
            failures=failures,
        )

        rollout.additional_properties = d
        return rollout

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
