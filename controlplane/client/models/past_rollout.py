from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.rollout_state import RolloutState, check_rollout_state

if TYPE_CHECKING:
    from ..models.release import Release


T = TypeVar("T", bound="PastRollout")


@_attrs_define
class PastRollout:
    """A rollout in the list: its release, its state and the reason for this state.

    Attributes:
        release (Release): One release, with its images of brokers and routers.
        state (RolloutState): * `Running` - Running
            * `Paused` - Paused
            * `Stopped` - Stopped
            * `Done` - Done
            * `Superseded` - Superseded
        reason (str):
        is_configured (bool): False where a person rolled the fleet back to this release.
        started_at (datetime.datetime):
        ended_at (datetime.datetime | None):
    """

    release: Release
    state: RolloutState
    reason: str
    is_configured: bool
    started_at: datetime.datetime
    ended_at: datetime.datetime | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        release = self.release.to_dict()

        state: str = self.state

        reason = self.reason

        is_configured = self.is_configured

        started_at = self.started_at.isoformat()

        ended_at: None | str
        if isinstance(self.ended_at, datetime.datetime):
            ended_at = self.ended_at.isoformat()
        else:
            ended_at = self.ended_at

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "release": release,
                "state": state,
                "reason": reason,
                "is_configured": is_configured,
                "started_at": started_at,
                "ended_at": ended_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.release import Release  # noqa: PLC0415

        d = dict(src_dict)
        release = Release.from_dict(d.pop("release"))

        state = check_rollout_state(d.pop("state"))

        reason = d.pop("reason")

        is_configured = d.pop("is_configured")

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

        past_rollout = cls(
            release=release,
            state=state,
            reason=reason,
            is_configured=is_configured,
            started_at=started_at,
            ended_at=ended_at,
        )

        past_rollout.additional_properties = d
        return past_rollout

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
