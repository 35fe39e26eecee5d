"""Deletes rows that only mattered for a time: expired sessions and old idempotency keys.

Called by the beat (``workers.delete_expired``). Readers never take an expired row for a live one,
so how often this runs is only a matter of how large the tables grow.
"""

from datetime import datetime

from django.contrib.sessions.models import Session

from controlplane.core import idempotency
from controlplane.core.models import IdempotencyKey


def delete_expired(now: datetime) -> int:
    """Delete what had expired at ``now``; returns the number of rows. Idempotent."""
    keys = IdempotencyKey.objects.filter(created_at__lt=now - idempotency.LIFETIME)
    sessions = Session.objects.filter(expire_date__lt=now)
    return keys.delete()[0] + sessions.delete()[0]
