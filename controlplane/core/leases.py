"""Leases: at most one process at a time does a named job. The lease of a crashed process expires.

A lease is a row of ``core_lease``: a name, its holder, and when it expires.

* ``held`` is for a job that is shorter than its lease.
* ``kept`` is for a job that may be longer: a thread extends the lease while the job runs. So the
  lease can be short, and another process can soon take over from one that was killed.
"""

import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

import structlog
from django.db import DatabaseError, InterfaceError, connection
from django.utils import timezone

from controlplane.core import time_limits
from controlplane.core.models import Lease

logger = structlog.get_logger(__name__)

# A job of ``kept`` that takes longer most likely hangs. Its lease then expires, and another process
# may take the job. Celery ends a task before.
_LONGEST_SECONDS = float(time_limits.LEASE_SECONDS)
_POLL_SECONDS = 0.05  # between two attempts to get a lease


def acquire(name: str, holder: str, seconds: float) -> bool:
    """Take or extend the lease ``name`` for ``holder``; return False if another holder has it.

    The lease then expires ``seconds`` from now. An expired lease is free. This is one conditional
    upsert, so of two callers only one can win. Idempotent for the same holder.
    """
    now = timezone.now()
    until = now + timedelta(seconds=seconds)
    with connection.cursor() as cursor:
        # A lease that someone else holds fails the WHERE, so no row is written: rowcount is 0.
        cursor.execute(
            "INSERT INTO core_lease (name, holder, expires_at) VALUES (%s, %s, %s) "
            "ON CONFLICT (name) DO UPDATE SET holder = EXCLUDED.holder, "
            "expires_at = EXCLUDED.expires_at "
            "WHERE core_lease.holder = EXCLUDED.holder OR core_lease.expires_at < %s",
            [name, holder, until, now],
        )
        return bool(cursor.rowcount == 1)


def acquire_each(names: Sequence[str], holder: str, seconds: float) -> set[str]:
    """Take or extend several leases by one statement; return the names that ``holder`` got.

    Each lease is taken or not by itself, as by ``acquire``.
    """
    if not names:
        return set()
    now = timezone.now()
    until = now + timedelta(seconds=seconds)
    with connection.cursor() as cursor:
        # In a fixed order, so that two callers never wait for each other.
        cursor.execute(
            "INSERT INTO core_lease (name, holder, expires_at) "
            "SELECT name, %s, %s FROM unnest(%s::varchar[]) AS wanted (name) ORDER BY name "
            "ON CONFLICT (name) DO UPDATE SET holder = EXCLUDED.holder, "
            "expires_at = EXCLUDED.expires_at "
            "WHERE core_lease.holder = EXCLUDED.holder OR core_lease.expires_at < %s "
            "RETURNING name",
            [holder, until, sorted(set(names)), now],
        )
        return {name for (name,) in cursor.fetchall()}


def release_each(names: Collection[str], holder: str) -> None:
    """Delete several leases, as ``release`` does, by one statement."""
    if names:
        Lease.objects.filter(name__in=names, holder=holder).delete()


def release(name: str, holder: str) -> None:
    """Delete the lease ``name``, so that it is free. Does nothing unless ``holder`` has it."""
    Lease.objects.filter(name=name, holder=holder).delete()


@contextmanager
def held(name: str, holder: str, seconds: float) -> Iterator[bool]:
    """Try once to take the lease, yield whether ``holder`` got it, and release it after the block.

    The block runs in both cases: it must check the yielded value. Nothing extends the lease.
    """
    won = acquire(name, holder, seconds)
    try:
        yield won
    finally:
        if won:
            release(name, holder)


@contextmanager
def kept(name: str, holder: str, seconds: float, *, patience: float = 0) -> Iterator[bool]:
    """Take the lease, yield whether ``holder`` got it, and extend it during the block.

    While another holder has the lease, this tries again for ``patience`` seconds.
    The block runs in both cases: it must check the yielded value. A thread extends the lease by
    ``seconds`` again and again, for 15 minutes at most, and the end of the block releases it. A
    block that loses its lease or takes longer is not stopped: its work must be safe while the next
    holder runs.
    """
    deadline = time.monotonic() + patience
    while not acquire(name, holder, seconds):
        if time.monotonic() >= deadline:
            yield False
            return
        time.sleep(_POLL_SECONDS)
    stored = StoredLease(
        name, partial(_extend, name, holder, seconds), partial(release, name, holder)
    )
    # Extended each third of its length, so that one failed try does not lose the lease.
    with stored.extended(seconds / 3, _LONGEST_SECONDS):
        yield True


@dataclass(frozen=True)
class StoredLease:
    """A lease that this process holds already, given by two functions that change its row.

    The row may be of any table: ``kept`` uses ``Lease``, and the lease of a space is columns of
    ``AddressSpace``. ``extend`` returns False if another holder has the lease now, and ``release``
    then does nothing. ``name`` appears in logs only.
    """

    name: str
    extend: Callable[[], bool]
    release: Callable[[], None]

    @contextmanager
    def extended(self, every_seconds: float, longest_seconds: float) -> Iterator[None]:
        """Extend the lease from a thread every ``every_seconds``; release it when the block ends.

        The thread stops extending when another holder has the lease, or when the block takes longer
        than ``longest_seconds``; the block itself goes on. While the database is away, the thread
        tries again and again.
        """
        ended = threading.Event()
        work = partial(_renew, self.name, self.extend, ended, every_seconds, longest_seconds)
        keeper = threading.Thread(target=work, name=f"keeper of {self.name}", daemon=True)
        keeper.start()
        try:
            yield
        finally:
            # The thread ends first: it must not extend what is released.
            ended.set()
            keeper.join()
            self.release()


def is_extended(name: str, extend: Callable[[], bool]) -> bool:
    """Call ``extend`` and return its result; return True also while the database is away.

    True then makes the caller try again later instead of giving the lease ``name`` up. In that
    case this logs a warning and closes the database connection of the calling thread.
    """
    try:
        return extend()
    except (DatabaseError, InterfaceError):
        logger.warning("a lease could not be extended; trying again", lease=name)
        connection.close()  # a broken connection would fail the next try as well
        return True


def _renew(
    name: str, extend: Callable[[], bool], ended: threading.Event, every: float, longest: float
) -> None:
    ends_at = time.monotonic() + longest
    try:
        while not ended.wait(every):
            if time.monotonic() > ends_at:
                logger.warning(
                    "a job takes too long; its lease expires", lease=name, seconds=longest
                )
                return
            if not is_extended(name, extend):
                return
    finally:
        # Django opens a connection for each thread and does not close it when the thread ends.
        connection.close()


def _extend(name: str, holder: str, seconds: float) -> bool:
    """Make the lease expire ``seconds`` from now; return False if ``holder`` has it no more."""
    mine = Lease.objects.filter(name=name, holder=holder)
    return bool(mine.update(expires_at=timezone.now() + timedelta(seconds=seconds)))
