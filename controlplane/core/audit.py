"""Write audit events, with secrets masked, in the caller's transaction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from controlplane.core.models import AuditEvent

# A field is masked if its name contains one of these: better one too many than a leaked secret.
_MASKED = ("password", "secret", "token", "key", "verifier")


@dataclass(frozen=True)
class Actor:
    """Who acts: ``name`` is ``user:<email>``, ``token:<prefix>``, ``worker`` or ``system``."""

    name: str
    source_ip: str = ""


@dataclass(frozen=True)
class Subject:
    """What is acted on: ``kind`` such as ``address``, its id and its name for people."""

    kind: str
    id: str
    name: str
    tenant_id: str = ""


SYSTEM = Actor("system")
WORKER = Actor("worker")


def record(
    actor: Actor,
    action: str,
    subject: Subject,
    *,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
    reason: str = "",
) -> AuditEvent:
    """Append one event; call it inside the transaction of the change that it describes."""
    return AuditEvent.objects.create(
        tenant_id=subject.tenant_id,
        actor=actor.name,
        action=action,
        subject_type=subject.kind,
        subject_id=subject.id,
        subject_name=subject.name,
        before=_masked(before or {}),
        after=_masked(after or {}),
        reason=reason,
        source_ip=actor.source_ip,
    )


def record_all(
    actor: Actor, action: str, subjects: Sequence[Subject], *, after: Mapping[str, Any]
) -> None:
    """Append one event for each subject of the same change, in one statement."""
    AuditEvent.objects.bulk_create(
        AuditEvent(
            tenant_id=subject.tenant_id,
            actor=actor.name,
            action=action,
            subject_type=subject.kind,
            subject_id=subject.id,
            subject_name=subject.name,
            after=_masked(after),
            source_ip=actor.source_ip,
        )
        for subject in subjects
    )


def _masked(values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: "***" if any(part in name.lower() for part in _MASKED) else value
        for name, value in values.items()
    }
