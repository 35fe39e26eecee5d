"""Store the newest list of each instance's client connections, for API and portal to read.

``sampling`` calls ``store`` with the snapshots that it has read for metering, so no engine is asked
twice.
"""

import json
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from django.db import connection

from tenants.models import ClientConnection, InstanceConnections
from workers.messaging.observed import ConnectionSeen, InstanceSnapshot

LISTED_PER_INSTANCE = 1000  # the others are counted in the total and not listed

# One statement: rows that are the same as before are not written, and everything that belongs to an
# instance which does not exist any more is deleted.
_STORE = """
WITH seen AS (
    SELECT * FROM jsonb_to_recordset(%(rows)s::jsonb) AS row(
        name text, instance text, connection_id text, messaging_user text, container text,
        remote_host text, protocol text, product text, tls text, opened_at timestamptz,
        sessions int, links int, addresses jsonb, sent bigint, received bigint)
), read AS (
    SELECT * FROM jsonb_to_recordset(%(read)s::jsonb)
        AS row(instance text, boot_id text, total int, listed int)
), earlier AS (
    SELECT instance, extract(epoch FROM %(as_of)s - as_of)::double precision AS seconds
    FROM tenants_instanceconnections JOIN read USING (instance, boot_id)
    WHERE space_id = %(space)s
), rated AS (
    SELECT seen.*,
        CASE WHEN seconds > 0 AND seen.sent >= old.sent
            THEN (seen.sent - old.sent) / seconds END AS sent_per_second,
        CASE WHEN seconds > 0 AND seen.received >= old.received
            THEN (seen.received - old.received) / seconds END AS received_per_second
    FROM seen
    LEFT JOIN earlier ON earlier.instance = seen.instance
    LEFT JOIN tenants_clientconnection old
        ON old.space_id = %(space)s AND old.name = seen.name
), ended AS (
    DELETE FROM tenants_clientconnection old
    WHERE old.space_id = %(space)s
      AND NOT EXISTS (SELECT 1 FROM seen WHERE seen.name = old.name)
      AND (old.instance IN (SELECT instance FROM read) OR old.instance <> ALL(%(existing)s))
), removed AS (
    DELETE FROM tenants_instanceconnections old
    WHERE old.space_id = %(space)s AND old.instance <> ALL(%(existing)s)
), summed AS (
    INSERT INTO tenants_instanceconnections (space_id, instance, boot_id, as_of, total, listed)
    SELECT %(space)s, instance, boot_id, %(as_of)s, total, listed FROM read
    ON CONFLICT (space_id, instance) DO UPDATE SET
        boot_id = EXCLUDED.boot_id, as_of = EXCLUDED.as_of,
        total = EXCLUDED.total, listed = EXCLUDED.listed
)
INSERT INTO tenants_clientconnection AS old (space_id, name, instance, connection_id,
    messaging_user, container, remote_host, protocol, product, tls, opened_at, sessions, links,
    addresses, sent, received, sent_per_second, received_per_second)
SELECT %(space)s, name, instance, connection_id, messaging_user, container, remote_host, protocol,
    product, tls, opened_at, sessions, links, addresses, sent, received, sent_per_second,
    received_per_second FROM rated
ON CONFLICT (space_id, name) DO UPDATE SET
    messaging_user = EXCLUDED.messaging_user, container = EXCLUDED.container,
    remote_host = EXCLUDED.remote_host, protocol = EXCLUDED.protocol, product = EXCLUDED.product,
    tls = EXCLUDED.tls, opened_at = EXCLUDED.opened_at, sessions = EXCLUDED.sessions,
    links = EXCLUDED.links, addresses = EXCLUDED.addresses, sent = EXCLUDED.sent,
    received = EXCLUDED.received, sent_per_second = EXCLUDED.sent_per_second,
    received_per_second = EXCLUDED.received_per_second
WHERE (old.messaging_user, old.container, old.remote_host, old.product, old.tls, old.sessions,
       old.links, old.addresses, old.sent, old.received, old.sent_per_second,
       old.received_per_second)
   IS DISTINCT FROM (EXCLUDED.messaging_user, EXCLUDED.container, EXCLUDED.remote_host,
       EXCLUDED.product, EXCLUDED.tls, EXCLUDED.sessions, EXCLUDED.links, EXCLUDED.addresses,
       EXCLUDED.sent, EXCLUDED.received, EXCLUDED.sent_per_second, EXCLUDED.received_per_second)
"""


def store(
    space_id: str,
    snapshots: Mapping[str, InstanceSnapshot],
    *,
    existing: Collection[str],
    as_of: datetime,
) -> None:
    """Replace the connection lists of the instances in ``snapshots``, by one statement. Idempotent.

    Rates are the growth of a connection's counters since the last list of the instance was stored.
    A counter that shrank gets no rate: that happens on a router when a link is closed. The
    connections of an instance that has restarted get no rates.

    An instance that did not answer keeps its list and its ``as_of``. Of each instance the oldest
    1000 connections are listed; ``total`` counts all. ``existing`` names all instances of the
    space: what is stored of others is deleted.
    """
    rows: list[dict[str, Any]] = []
    read: list[dict[str, Any]] = []
    for instance, snapshot in snapshots.items():
        # Oldest first, so that a flood of new connections does not hide the lasting ones.
        # As text, because the time may be missing; such connections come last.
        ordered = sorted(snapshot.connections, key=lambda seen: (str(seen.opened_at), seen.id))
        listed = {seen.id: seen for seen in ordered[:LISTED_PER_INSTANCE]}
        rows += [_row(instance, seen) for seen in listed.values()]
        read.append(
            {
                "instance": instance,
                "boot_id": snapshot.boot_id,
                "total": len(snapshot.connections),
                "listed": len(listed),
            }
        )
    with connection.cursor() as cursor:
        cursor.execute(
            _STORE,
            {
                "rows": json.dumps(rows, default=datetime.isoformat),
                "read": json.dumps(read),
                "space": space_id,
                "existing": list(existing),
                "as_of": as_of,
            },
        )


def delete_ended() -> int:
    """Delete the connection lists of deleted spaces; return the number of deleted rows. Idempotent.

    The reconcile pass that deletes a space deletes its lists, too. But a sampling cycle that read
    the instances before this pass may store the lists again after it.
    """
    return sum(
        model.objects.filter(space__deleted_at__isnull=False).delete()[0]
        for model in (ClientConnection, InstanceConnections)
    )


def _row(instance: str, seen: ConnectionSeen) -> dict[str, Any]:
    return {
        "name": f"{instance}.{seen.id}"[:160],
        "instance": instance,
        "connection_id": seen.id[:120],
        "messaging_user": _text(seen.user, 255),
        "container": _text(seen.container, 255),
        "remote_host": _text(seen.remote_host, 255),
        "protocol": _text(seen.protocol, 40),
        "product": _text(seen.product, 120),
        "tls": _text(seen.tls, 120),
        "opened_at": seen.opened_at,
        "sessions": seen.sessions,
        "links": seen.links,
        "addresses": [_text(address, 255) for address in seen.addresses[:_MOST_ADDRESSES]],
        "sent": seen.sent,
        "received": seen.received,
    }


_MOST_ADDRESSES = 100  # stored of one connection


def _text(value: str, length: int) -> str:
    # A client chooses its container id, and PostgreSQL accepts no NUL in text.
    return value.replace("\x00", "")[:length].encode("utf-8", "replace").decode()
