from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.audit_event_after import AuditEventAfter
    from ..models.audit_event_before import AuditEventBefore


T = TypeVar("T", bound="AuditEvent")


@_attrs_define
class AuditEvent:
    """One recorded change: who (`actor`) did what (`action`) to what (`subject_…`).

    `before` and `after` have the values that changed; secrets in them are masked. What the operator
    did has the actor `operator`; what an account did that is gone has `deleted-account`. Events of
    both, and of Waypost itself, have no `source_ip`, and most have no `reason`.

        Attributes:
            at (datetime.datetime):
            actor (str):
            action (str):
            subject_type (str):
            subject_id (str):
            subject_name (str):
            before (AuditEventBefore):
            after (AuditEventAfter):
            reason (str):
            source_ip (str):
    """

    at: datetime.datetime
    actor: str
    action: str
    subject_type: str
    subject_id: str
    subject_name: str
    before: AuditEventBefore
    after: AuditEventAfter
    reason: str
    source_ip: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        at = self.at.isoformat()

        actor = self.actor

        action = self.action

        subject_type = self.subject_type

        subject_id = self.subject_id

        subject_name = self.subject_name

        before = self.before.to_dict()

        after = self.after.to_dict()

        reason = self.reason

        source_ip = self.source_ip

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "at": at,
                "actor": actor,
                "action": action,
                "subject_type": subject_type,
                "subject_id": subject_id,
                "subject_name": subject_name,
                "before": before,
                "after": after,
                "reason": reason,
                "source_ip": source_ip,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.audit_event_after import AuditEventAfter  # noqa: PLC0415
        from ..models.audit_event_before import AuditEventBefore  # noqa: PLC0415

        d = dict(src_dict)
        at = datetime.datetime.fromisoformat(d.pop("at"))

        actor = d.pop("actor")

        action = d.pop("action")

        subject_type = d.pop("subject_type")

        subject_id = d.pop("subject_id")

        subject_name = d.pop("subject_name")

        before = AuditEventBefore.from_dict(d.pop("before"))

        after = AuditEventAfter.from_dict(d.pop("after"))

        reason = d.pop("reason")

        source_ip = d.pop("source_ip")

        audit_event = cls(
            at=at,
            actor=actor,
            action=action,
            subject_type=subject_type,
            subject_id=subject_id,
            subject_name=subject_name,
            before=before,
            after=after,
            reason=reason,
            source_ip=source_ip,
        )

        audit_event.additional_properties = d
        return audit_event

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
