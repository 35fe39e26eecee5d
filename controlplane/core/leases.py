"""Leases: at most one holder of a named job at a time; the lease of a crashed holder expires.

* ``held`` is for jobs that are shorter than the lease.
* ``kept`` is for jobs that may be longer. It extends the lease while the job runs, so the lease can
  be short, and another process can soon take over from a holder that was killed.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

import structlog
from django.db import DatabaseError, InterfaceError, connection
from django.utils import timezone

from controlplane.core.models import Lease

logger = structlog.get_logger(__name__)

# A job that takes longer than this most likely hangs: its lease may expire, and another process
# may try.
_LONGEST_SECONDS = 900.0


def acquire(name: str, holder: str, seconds: float) -> bool:
    """Take or extend the lease ``name`` for ``holder``; False when someone else holds it.

    One conditional upsert, so two callers cannot both win. Idempotent for the same holder.
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

    A block that loses its lease or takes longer is not stopped: its work must be safe while the
    next holder runs.
    """
    if not acquire(name, holder, seconds):
        yield False
        return
    stored = StoredLease(
        name, partial(_extend, name, holder, seconds), partial(release, name, holder)
    )
    # A third, so that one failed try does not lose the lease.
    with stored.extended(seconds / 3, _LONGEST_SECONDS):
        yield True


@dataclass(frozen=True)
class StoredLease:
    """A lease that this process holds, wherever it is stored.

    ``extend`` returns False if someone else has it now. ``release`` does nothing then.
    """

    name: str
    extend: Callable[[], bool]
    release: Callable[[], None]

    @contextmanager
    def extended(self, every_seconds: float, longest_seconds: float) -> Iterator[None]:
        """Extend the lease from a thread while the block runs, then give it back.

        It is not extended any more once someone else has it, or when the block takes longer than
        ``longest_seconds``. While the database is away, the thread goes on trying.
        """
        ended = threading.Event()
        work = partial(_renew, self.name, self.extend, ended, every_seconds, longest_seconds)
        keeper = threading.Thread(target=work, name=f"keeper of {self.name}", daemon=True)
        keeper.start()
        try:
            yield
        finally:
            ended.set()
            keeper.join()
            self.release()


def is_extended(name: str, extend: Callable[[], bool]) -> bool:
    """Return the result of ``extend``; True while the database is away, so callers try again."""
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
        connection.close()  # Django opens one for each thread and closes none at a thread's end


def _extend(name: str, holder: str, seconds: float) -> bool:
    """Extend the lease by ``seconds`` from now; False when ``holder`` no longer has it."""
    mine = Lease.objects.filter(name=name, holder=holder)
    return bool(mine.update(expires_at=timezone.now() + timedelta(seconds=seconds)))
