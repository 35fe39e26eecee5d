"""Leases: at most one holder of a named job at a time, and a crash frees it by time.

``held`` is for jobs that are shorter than the lease; ``kept`` for those that may be longer: it puts
the end off while the job runs, so that the lease can be short and a killed holder soon followed.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial

import structlog
from django.db import DatabaseError, InterfaceError, connection
from django.utils import timezone

from controlplane.core.models import Lease

logger = structlog.get_logger(__name__)

# A job that takes longer than this hangs, most likely: another process may try.
_LONGEST_SECONDS = 900.0


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


@contextmanager
def kept(name: str, holder: str, seconds: float) -> Iterator[bool]:
    """Yield whether the lease was won; extend it while the block runs, for 15 minutes at most.

    A block whose lease is lost, or that takes longer, is not stopped: what it does must be safe
    beside the next holder.
    """
    with held(name, holder, seconds) as won:
        if not won:
            yield False
            return
        extend = partial(_extend, name, holder, seconds)
        with renewed(name, extend, seconds / 3, _LONGEST_SECONDS):
            yield True


@contextmanager
def renewed(
    name: str, extend: Callable[[], bool], every_seconds: float, longest_seconds: float
) -> Iterator[None]:
    """Call ``extend`` of the lease ``name`` every so often, from a thread, while the block runs.

    It ends before when ``extend`` returns False (someone else has the lease) or when the block
    takes longer than ``longest_seconds``. A database that is away is tried again.
    """
    ended = threading.Event()
    work = partial(_renew, name, extend, ended, every_seconds, longest_seconds)
    keeper = threading.Thread(target=work, name=f"keeper of {name}", daemon=True)
    keeper.start()
    try:
        yield
    finally:
        ended.set()
        keeper.join()


def is_extended(name: str, extend: Callable[[], bool]) -> bool:
    """Return what ``extend`` does; where the database is away, that it is tried again."""
    try:
        return extend()
    except (DatabaseError, InterfaceError):
        logger.warning("a lease was not put off; we try again", lease=name)
        connection.close()
        return True


def _renew(
    name: str, extend: Callable[[], bool], ended: threading.Event, every: float, longest: float
) -> None:
    ends_at = time.monotonic() + longest
    try:
        while not ended.wait(every):
            if time.monotonic() > ends_at:
                logger.warning("a job hangs; its lease runs out", lease=name, seconds=longest)
                return
            if not is_extended(name, extend):
                return
    finally:
        connection.close()  # each thread has one of its own


def _extend(name: str, holder: str, seconds: float) -> bool:
    """Put the end off; False when ``holder`` no longer has the lease."""
    mine = Lease.objects.filter(name=name, holder=holder)
    return bool(mine.update(expires_at=timezone.now() + timedelta(seconds=seconds)))
