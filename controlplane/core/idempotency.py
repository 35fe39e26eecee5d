"""Idempotency keys: the answer of a POST is kept for a day, and given again for the same request.

Called by the API around a POST, inside the transaction of the change: the change and its kept
answer commit together or not at all, so a crash anywhere leaves the key free or the answer kept.
"""

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection

from controlplane.core import secrets
from controlplane.core.errors import Conflict
from controlplane.core.models import IdempotencyKey

LIFETIME = timedelta(hours=24)


class KeyReused(Conflict):
    """The key came before with another request."""

    code = "idempotency_key.reused"


@dataclass(frozen=True)
class Answer:
    """What a POST answered: status, JSON body, headers."""

    status: int
    body: Any
    headers: dict[str, str]


@dataclass(frozen=True)
class Key:
    """A caller's key: ``scope`` keeps callers apart, ``request_hash`` tells requests apart."""

    scope: str
    text: str
    request_hash: str


def find(key: Key, now: datetime) -> Answer | None:
    """Return the kept answer, or None; until the transaction ends nobody else passes here.

    Raises:
        KeyReused: the key was used with another request in the last 24 hours.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"{key.scope}/{key.text}"]
        )
    IdempotencyKey.objects.filter(scope=key.scope, created_at__lt=now - LIFETIME).delete()
    row = IdempotencyKey.objects.filter(scope=key.scope, key=key.text).first()
    if row is None:
        return None
    if row.request_hash != key.request_hash:
        raise KeyReused("This Idempotency-Key came with another request: use a new key.")
    kept = json.loads(secrets.unseal(row.body["sealed"]))
    return Answer(row.status, kept["body"], kept["headers"])


def keep(key: Key, answer: Answer) -> None:
    """Keep ``answer`` under ``key``, sealed, because it may hold a new token."""
    sealed = secrets.seal(json.dumps({"body": answer.body, "headers": answer.headers}))
    IdempotencyKey.objects.create(
        scope=key.scope,
        key=key.text,
        request_hash=key.request_hash,
        status=answer.status,
        body={"sealed": sealed},
    )
