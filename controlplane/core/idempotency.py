"""Idempotency keys: the answer to a POST is stored for a day and repeated for the same request.

``controlplane.api.idempotency`` calls ``find`` before a POST and ``keep`` after it, in the
transaction of the change. The change and its stored answer commit together or not at all: after a
crash at any point, either the key is unused or the answer is stored.
"""

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection

from controlplane.core import secrets
from controlplane.core.errors import Conflict
from controlplane.core.models import IdempotencyKey

LIFETIME = timedelta(hours=24)  # how long an answer is kept for a repeated request


class KeyReused(Conflict):
    """The caller used the key for another request in the last 24 hours."""

    code = "idempotency_key.reused"


@dataclass(frozen=True)
class Answer:
    """The stored answer to a POST: HTTP status, JSON body, and headers by name."""

    status: int
    body: Any
    headers: dict[str, str]


@dataclass(frozen=True)
class Key:
    """The Idempotency-Key of one request, with what it is valid for.

    ``scope`` is a hash of the caller, because two callers may use the same key. ``text`` is the
    value of the header. ``request_hash`` is a hash of the request's path and body: a key that comes
    with another hash is refused.
    """

    scope: str
    text: str
    request_hash: str


def find(key: Key, now: datetime) -> Answer | None:
    """Return the answer stored under ``key``, or None if the key is unused.

    Call it inside the transaction of the change. It locks the key until that transaction ends, so a
    concurrent request with the same key waits here. It also deletes all keys of the same caller
    that have expired.

    Raises:
        KeyReused: the caller used the key for another request in the last 24 hours.
    """
    # Two keys with one hash only wait for each other.
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"{key.scope}/{key.text}"]
        )
    # Not left to the periodic cleanup: an expired key may be used for another request.
    IdempotencyKey.objects.filter(scope=key.scope, created_at__lt=now - LIFETIME).delete()
    row = IdempotencyKey.objects.filter(scope=key.scope, key=key.text).first()
    if row is None:
        return None
    if row.request_hash != key.request_hash:
        raise KeyReused("This Idempotency-Key was used for another request: use a new key.")
    stored = json.loads(secrets.decrypt(row.body["sealed"]))
    return Answer(row.status, stored["body"], stored["headers"])


def keep(key: Key, answer: Answer) -> None:
    """Store ``answer`` under ``key``, which ``find`` has locked in this transaction.

    Body and headers are encrypted, because they may hold a new token.
    """
    encrypted = secrets.encrypt(json.dumps({"body": answer.body, "headers": answer.headers}))
    IdempotencyKey.objects.create(
        scope=key.scope,
        key=key.text,
        request_hash=key.request_hash,
        status=answer.status,
        body={"sealed": encrypted},
    )
