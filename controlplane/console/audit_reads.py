"""Reads audit events: of a tenant as its members may see them, and of all tenants for staff.

The number of queries does not depend on the number of events. ``stream`` and ``stream_to_staff``
alone make one query for each chunk of 500 events.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import partial, reduce
from operator import or_
from typing import TypeVar

from django.db.models import Q, QuerySet

from controlplane.console import audit_words
from controlplane.console.audit_kinds import KINDS
from controlplane.core.models import AuditEvent
from tenants import queries, shown_actors
from tenants.models import Tenant

Shown = TypeVar("Shown")
_CHUNK = 500  # rows that are in memory at once
# A search on a page looks at so many events: matching a text takes time for each of them.
SEARCHED = 50_000


@dataclass(frozen=True)
class AuditFilter:
    """Selects audit events. An empty or absent value does not filter; all values must match.

    ``text`` is a part of the name of what changed, of the action, or of a member's email. ``kind``
    is a key of ``audit_kinds.KINDS``. ``since`` and ``until`` are days in UTC, both included.
    ``tenant_id`` selects the events of one tenant for staff; ``find`` ignores it.
    """

    text: str = ""
    kind: str = ""
    since: date | None = None
    until: date | None = None
    tenant_id: str = ""


@dataclass(frozen=True)
class ShownEvent:
    """An audit event as a page shows it.

    For members of the tenant, ``who`` hides operators, and ``source_ip`` and ``reason`` are empty
    if an operator did it. For staff nothing is hidden.
    """

    at: datetime
    who: str
    what: str
    changes: list[str]
    reason: str
    source_ip: str


def find(
    tenant: Tenant, wanted: AuditFilter, most: int | None = None
) -> QuerySet[AuditEvent, AuditEvent]:
    """Return the tenant's audit events that ``wanted`` selects, newest first.

    With ``most``, ``wanted.text`` is searched in at most the newest ``most`` events of that kind
    and those days. Without it, ``wanted.text`` is searched in all of them.
    """
    rows = _of_kind_and_time(queries.list_audit(tenant), wanted)
    if wanted.text:
        rows = _newest(rows, most)
        # Only emails of members: a search must not reveal who operates the installation.
        members = queries.list_members(tenant).filter(user__email__icontains=wanted.text)
        actors = [f"user:{email}" for email in members.values_list("user__email", flat=True)]
        rows = rows.filter(
            Q(subject_name__icontains=wanted.text)
            | Q(action__icontains=wanted.text.strip().replace(" ", "_"))
            | Q(actor__in=actors)
        )
    return rows


def find_all(wanted: AuditFilter, most: int | None = None) -> QuerySet[AuditEvent, AuditEvent]:
    """Return the audit events of all tenants that ``wanted`` selects, newest first, for staff.

    ``text`` may also be a part of the actor's name, or the slug of a tenant. ``most`` limits the
    search as it does in ``find``.
    """
    rows = _of_kind_and_time(AuditEvent.objects.order_by("-at", "-id"), wanted)
    if wanted.tenant_id:
        rows = rows.filter(tenant_id=wanted.tenant_id)
    if wanted.text:
        rows = _newest(rows, most)
        tenants = Tenant.objects.filter(Q(slug=wanted.text) | Q(name__icontains=wanted.text))
        rows = rows.filter(
            Q(subject_name__icontains=wanted.text)
            | Q(action__icontains=wanted.text.replace(" ", "_"))
            | Q(actor__icontains=wanted.text)
            | Q(tenant_id__in=tenants.values("pk"))
        )
    return rows


def shown_to_staff(
    events: Iterable[AuditEvent], known: dict[str, Tenant] | None = None
) -> list[tuple[ShownEvent, Tenant | None]]:
    """Return ``events`` with everything they record, each with its tenant; None without one.

    ``known`` are tenants by id that need not be read; those that were read are added.
    """
    listed = list(events)
    tenants = {} if known is None else known
    wanted = {event.tenant_id for event in listed if event.tenant_id}
    tenants |= Tenant.objects.in_bulk(wanted - tenants.keys())
    return [
        (
            ShownEvent(
                event.at,
                event.actor.removeprefix("user:"),
                audit_words.sentence(event),
                audit_words.changes(event),
                event.reason,
                event.source_ip,
            ),
            tenants.get(event.tenant_id),
        )
        for event in listed
    ]


def shown(tenant: Tenant, events: Iterable[AuditEvent]) -> list[ShownEvent]:
    """Return ``events`` as members of ``tenant`` read them, in the same order."""
    listed = list(events)
    names = shown_actors.names(tenant, {event.actor for event in listed})
    found = []
    for event in listed:
        who = names[event.actor]
        found.append(
            ShownEvent(
                event.at,
                who,
                audit_words.sentence(event),
                # The states of an invoice before its issue are the operator's work.
                [] if event.subject_type == "invoice" else audit_words.changes(event),
                shown_actors.reason(event, who),
                "" if shown_actors.is_internal(who) else event.source_ip,
            )
        )
    return found


def stream(tenant: Tenant, wanted: AuditFilter) -> Iterator[ShownEvent]:
    """Yield every event that ``wanted`` selects, newest first, in chunks of constant memory."""
    return _in_chunks(find(tenant, wanted), lambda events: shown(tenant, events))


def stream_to_staff(wanted: AuditFilter) -> Iterator[tuple[ShownEvent, Tenant | None]]:
    """Yield every event of all tenants that ``wanted`` selects, as ``stream`` does, for staff."""
    return _in_chunks(find_all(wanted), partial(shown_to_staff, known={}))


def _in_chunks(
    rows: QuerySet[AuditEvent, AuditEvent],
    show: Callable[[Sequence[AuditEvent]], Iterable[Shown]],
) -> Iterator[Shown]:
    # By chunks, because ``show`` looks up in one query what all its events name.
    chunk: list[AuditEvent] = []
    for event in rows.iterator(chunk_size=_CHUNK):
        chunk.append(event)
        if len(chunk) == _CHUNK:
            yield from show(chunk)
            chunk = []
    yield from show(chunk)


def _of_kind_and_time(
    rows: QuerySet[AuditEvent, AuditEvent], wanted: AuditFilter
) -> QuerySet[AuditEvent, AuditEvent]:
    if wanted.kind:
        prefixes = KINDS[wanted.kind].prefixes
        rows = rows.filter(reduce(or_, (Q(action__startswith=f"{one}.") for one in prefixes)))
    if wanted.since:
        rows = rows.filter(at__gte=_midnight(wanted.since))
    if wanted.until:
        rows = rows.filter(at__lt=_midnight(wanted.until + timedelta(days=1)))
    return rows


def _newest(
    rows: QuerySet[AuditEvent, AuditEvent], most: int | None
) -> QuerySet[AuditEvent, AuditEvent]:
    """Return at most the newest ``most`` of ``rows``, which are sorted; all if ``most`` is None."""
    if most is None:
        return rows
    following = next(iter(rows[most : most + 1]), None)
    if following is None:
        return rows
    # The first condition is that of the index; the second one divides events of one instant.
    later = Q(at__gt=following.at) | Q(at=following.at, pk__gt=following.pk)
    return rows.filter(at__gte=following.at).filter(later)


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)
