"""Write audit events, with secrets masked, in the caller's transaction."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from controlplane.core.models import AuditEvent

# A value is masked if its name contains one of these. Some harmless values are masked too, which is
# better than a leaked secret.
_MASKED = ("password", "secret", "token", "key", "verifier")


@dataclass(frozen=True)
class Actor:
    """Who makes a change: ``user:<email>``, ``token:<prefix>``, ``worker`` or ``system``.

    A few changes have another name, such as ``identity-provider``, ``anonymous`` or
    ``operator:command-line``. ``source_ip`` is the network address from which the request came;
    empty without a request. ``token_id`` is the id of a tenant's token; empty for any other actor.
    """

    name: str
    source_ip: str = ""
    token_id: str = ""


@dataclass(frozen=True)
class Subject:
    """What is changed: its ``kind``, such as ``address``, its id and its name for people.

    ``tenant_id`` names the tenant whose audit log shows the event. It is empty for what belongs to
    no tenant.
    """

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
    """Append one audit event; call it inside the transaction of the change that it describes.

    ``action`` is a slug such as ``address.delete``. ``before`` and ``after`` are the values that
    changed, by name. A value whose name suggests a secret is stored as ``***``; only names at the
    top level are checked.
    """
    row = event(actor, action, subject, before=before, after=after, reason=reason)
    row.save()
    return row


def event(
    actor: Actor,
    action: str,
    subject: Subject,
    *,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
    reason: str = "",
) -> AuditEvent:
    """Return the event that ``record`` writes, unsaved; ``record_each`` writes many."""
    return AuditEvent(
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


def record_each(events: Iterable[AuditEvent]) -> None:
    """Append many events from ``event`` by one statement, inside the transaction of the changes."""
    AuditEvent.objects.bulk_create(events)


def record_all(
    actor: Actor, action: str, subjects: Sequence[Subject], *, after: Mapping[str, Any]
) -> None:
    """Append one audit event for each of ``subjects``, all with the same ``after``.

    Call it inside the transaction of the change. One statement writes all events. Their ``before``
    is empty, and secrets in ``after`` are masked as ``record`` does it.
    """
    record_each(event(actor, action, subject, after=after) for subject in subjects)


def _masked(values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        # A missing value is no secret.
        name: "***" if value and any(part in name.lower() for part in _MASKED) else value
        for name, value in values.items()
    }
