"""Deletes expired rows: sessions and idempotency keys.

The periodic task ``workers.delete_expired`` calls it. Readers ignore expired rows, so the period
only decides how large the tables grow.
"""

from datetime import datetime

from django.contrib.sessions.models import Session

from controlplane.core import idempotency
from controlplane.core.models import IdempotencyKey


def delete_expired(now: datetime) -> int:
    """Delete the rows that are expired at ``now``; return their number. Idempotent."""
    keys = IdempotencyKey.objects.filter(created_at__lt=now - idempotency.LIFETIME)
    sessions = Session.objects.filter(expire_date__lt=now)
    return keys.delete()[0] + sessions.delete()[0]
