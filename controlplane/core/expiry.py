"""Delete expired rows: sessions of people, and idempotency keys.

The periodic task ``workers.delete_expired`` calls this module. The code that uses these rows
ignores expired ones itself, so the period only decides how large the tables grow.
"""

from datetime import datetime

from django.contrib.sessions.models import Session

from controlplane.core import idempotency
from controlplane.core.models import IdempotencyKey


def delete_expired(now: datetime) -> int:
    """Delete the sessions and idempotency keys that are expired at ``now``; return how many.

    Idempotent.
    """
    keys = IdempotencyKey.objects.filter(created_at__lt=now - idempotency.LIFETIME)
    sessions = Session.objects.filter(expire_date__lt=now)
    return keys.delete()[0] + sessions.delete()[0]
