"""Request that connections of clients are closed. A worker closes them.

A client whose connection was closed may connect again at once. ``messaging_users.revoke`` keeps the
clients of a messaging user out.
"""

from collections.abc import Collection

from django.db import transaction

from controlplane.core import audit, enqueue, operations
from controlplane.core.audit import Actor
from controlplane.core.errors import Invalid, Missing
from controlplane.core.models import Operation
from tenants import queries
from tenants.actions import address_spaces
from tenants.models import AddressSpace, ClientConnection, Disconnection, InstanceConnections

SUBJECT = "connections"
MOST_AT_ONCE = 1000  # connections that one request closes
_SHOWN_IN_AUDIT = 100  # ids in the audit event


class ConnectionsInvalid(Invalid):
    """The request names no connections, names them in two ways, or names too many."""

    code = "connections.invalid"


class ConnectionsMissing(Missing):
    """No named connection has a row: they have ended, are not listed, or are not the space's."""

    code = "connections.missing"


def close(
    *, space: AddressSpace, by: Actor, ids: Collection[str] = (), user: str = ""
) -> Operation:
    """Request that the connections ``ids``, or all of the messaging user ``user``, are closed.

    Returns the operation to poll. An id is the ``name`` of a ``ClientConnection`` of the space. Ids
    without such a row are left out, because their connections have ended. With ``user``,
    connections that have no row are closed too.

    Raises:
        ConnectionsInvalid: neither or both are given, or more than 1,000 ids.
        ConnectionsMissing: no id has a row. Missing: the space has no such user.
        SpaceTerminating: the space is being deleted.
    """
    if bool(ids) == bool(user):
        raise ConnectionsInvalid("Give the ids of connections, or a messaging user.")
    if len(ids) > MOST_AT_ONCE:
        raise ConnectionsInvalid(f"Close at most {MOST_AT_ONCE:,} connections at once.")
    with transaction.atomic():
        locked = address_spaces.lock_for_change(space)
        if user:
            queries.get_user(locked, user)
            made = Disconnection.objects.create(space=locked, messaging_user=user)
            name = f"of {user}"
        else:
            made = Disconnection.objects.create(space=locked, targets=_targets(locked, ids))
            name = f"({len(made.targets)}) of {locked.name}"
        operation = operations.begin(
            tenant_id=locked.tenant_id,
            kind=f"{SUBJECT}.close",
            subject=(SUBJECT, made.pk, name),
            generation=1,
            by=by,
        )
        chosen = [f"{target['instance']}.{target['id']}" for target in made.targets]
        audit.record(
            by,
            f"{SUBJECT}.close",
            audit.Subject(SUBJECT, made.pk, f"{SUBJECT} {name}", locked.tenant_id),
            after={
                "space": locked.name,
                **({"user": user} if user else {"connections": len(chosen)}),
                **({"ids": chosen[:_SHOWN_IN_AUDIT]} if chosen else {}),
            },
        )
        enqueue.after_commit("workers.disconnect", disconnection_id=made.pk)
    return operation


def _targets(space: AddressSpace, ids: Collection[str]) -> list[dict[str, str]]:
    boots = dict(InstanceConnections.objects.filter(space=space).values_list("instance", "boot_id"))
    rows = ClientConnection.objects.filter(space=space, name__in=set(ids)).order_by("name")
    if not rows:
        raise ConnectionsMissing("None of these connections is open any more.")
    # With the incarnation: after a restart the engine may give the id to another one.
    return [
        {"instance": row.instance, "boot_id": boots.get(row.instance, ""), "id": row.connection_id}
        for row in rows
    ]
