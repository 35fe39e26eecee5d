"""Says who acted, in words that a tenant may read: an operator's email stays private."""

from collections.abc import Iterable

from django.db import connection
from django.db.models import QuerySet, Value

from controlplane.core.models import AuditEvent
from tenants.models import Tenant, User

OPERATOR = "The operator"
AUTOMATIC = "Waypost"
FORMER = "A deleted account"
# What the API and the export show in place of the actor.
_KEYS = {OPERATOR: "operator", FORMER: "deleted-account"}
# Actions whose reasons operators write for the members of the tenant.
_REASONS_SHOWN = ("tenant.suspend", "support_access.begin")


def names(tenant: Tenant, actors: Iterable[str]) -> dict[str, str]:
    """Return {actor: name for the tenant's pages} for actors of audit events, in one query.

    An actor is one of ``user:<email>``, ``token:<prefix>``, ``worker`` or ``system``. Members are
    shown by their email, and so is everybody else who is no operator. An account that no longer
    exists may have been an operator's, so its email is not shown.
    """
    wanted = set(actors)
    emails = {actor.removeprefix("user:") for actor in wanted if actor.startswith("user:")}
    rows = User.objects.filter(email__in=emails).values_list(
        "email", "is_staff", "memberships__tenant"
    )
    staff: set[str] = set()
    shown: set[str] = set()
    for email, is_staff, member_of in rows:
        (staff if is_staff and member_of != tenant.pk else shown).add(email)
    return {actor: _name(actor, staff - shown, shown) for actor in wanted}


def is_internal(name: str) -> bool:
    """Return whether ``name``, a value of ``names``, names neither a person nor a token."""
    return name in (OPERATOR, AUTOMATIC, FORMER)


def reason(event: AuditEvent, name: str) -> str:
    """Return the event's reason; empty if members must not read it.

    ``name`` is the event's actor as ``names`` shows it. The reasons of the operator, of deleted
    accounts and of Waypost itself are hidden, except those of ``_REASONS_SHOWN``.
    """
    return "" if is_internal(name) and event.action not in _REASONS_SHOWN else event.reason


def hide(tenant: Tenant, events: Iterable[AuditEvent]) -> list[AuditEvent]:
    """Return ``events`` as the tenant's programs may read them; do not save them.

    ``operator`` or ``deleted-account`` replaces an email that stays private; any other actor stays
    as it is. Events of these actors and of Waypost itself lose ``source_ip`` and, as ``reason``
    says, their reason.
    """
    listed = list(events)
    found = names(tenant, {event.actor for event in listed})
    for event in listed:
        name = found[event.actor]
        event.reason = reason(event, name)
        event.source_ip = "" if is_internal(name) else event.source_ip
        event.actor = _KEYS.get(name, event.actor)
    return listed


def acted_by(
    tenant: Tenant, events: QuerySet[AuditEvent, AuditEvent], shown: str
) -> QuerySet[AuditEvent, AuditEvent]:
    """Return those of the tenant's ``events`` whose actor ``hide`` shows as ``shown``.

    Each row gets the annotation ``shown_actor`` with the value ``shown``. Nothing is found by an
    email that stays private. Takes at most two queries.
    """
    hidden = shown in _KEYS.values()
    found = names(tenant, _actors(tenant) if hidden else [shown])
    actors = [actor for actor, name in found.items() if _KEYS.get(name, actor) == shown]
    return events.filter(actor__in=actors).annotate(shown_actor=Value(shown))


def _actors(tenant: Tenant) -> list[str]:
    """Return each actor of the tenant's events once.

    DISTINCT would read all events. This reads one entry of an index for each actor.
    """
    table = AuditEvent._meta.db_table
    following = f"SELECT min(actor) FROM {table} WHERE tenant_id = %(tenant)s"
    statement = f"""WITH RECURSIVE found(actor) AS (
      ({following}) UNION ALL
      SELECT ({following} AND actor > found.actor) FROM found WHERE actor IS NOT NULL
    ) SELECT actor FROM found WHERE actor IS NOT NULL"""
    with connection.cursor() as cursor:
        cursor.execute(statement, {"tenant": tenant.pk})
        return [actor for (actor,) in cursor.fetchall()]


def _name(actor: str, staff: set[str], shown: set[str]) -> str:
    kind, _, rest = actor.partition(":")
    if kind == "token":
        return f"API token {rest}"
    if kind != "user":
        return AUTOMATIC
    if rest in shown:
        return rest
    return OPERATOR if rest in staff else FORMER
