"""Leases: at most one holder of a named job at a time, and a crash frees it by time."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from django.db import connection
from django.utils import timezone

from controlplane.core.models import Lease


def acquire(name: str, holder: str, seconds: float) -> bool:
    """Take or extend the lease ``name`` for ``holder``; False when someone else holds it.

    One conditional upsert, so two callers cannot both win. Idempotent for the same holder.
    """
    now = timezone.now()
    until = now + timedelta(seconds=seconds)
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO core_lease (name, holder, expires_at) VALUES (%s, %s, %s) "
            "ON CONFLICT (name) DO UPDATE SET holder = EXCLUDED.holder, "
            "expires_at = EXCLUDED.expires_at "
            "WHERE core_lease.holder = EXCLUDED.holder OR core_lease.expires_at < %s",
            [name, holder, until, now],
        )
        return bool(cursor.rowcount == 1)


def release(name: str, holder: str) -> None:
    """Give the lease back; does nothing when ``holder`` no longer has it."""
    Lease.objects.filter(name=name, holder=holder).delete()


@contextmanager
def held(name: str, holder: str, seconds: float) -> Iterator[bool]:
    """Yield whether the lease was won; release it at the end if it was."""
    won = acquire(name, holder, seconds)
    try:
        yield won
    finally:
        if won:
            release(name, holder)
