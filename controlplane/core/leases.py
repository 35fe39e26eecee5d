"""Leases: at most one process at a time does a named job. The lease of a crashed process expires.

* ``held`` is for a job that is shorter than its lease.
* ``kept`` is for a job that may be longer. It extends the lease while the job runs. So the lease
  can be short, and another process can soon take over from one that was killed.
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

# A job of ``kept`` that takes longer most likely hangs. Its lease then expires, and another process
# may take the job.
_LONGEST_SECONDS = 900.0


def acquire(name: str, holder: str, seconds: float) -> bool:
    """Take or extend the lease ``name`` for ``holder``; False while another holder has it.

    It ends ``seconds`` from now. One conditional upsert, so two callers cannot both win. Idempotent
    for the same holder.
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
    """End the lease ``name`` now; does nothing if ``holder`` no longer has it."""
    Lease.objects.filter(name=name, holder=holder).delete()


@contextmanager
def held(name: str, holder: str, seconds: float) -> Iterator[bool]:
    """Yield whether ``holder`` got the lease; if so, release it at the end of the block."""
    won = acquire(name, holder, seconds)
    try:
        yield won
    finally:
        if won:
            release(name, holder)


@contextmanager
def kept(name: str, holder: str, seconds: float) -> Iterator[bool]:
    """Yield whether ``holder`` got the lease; extend it while the block runs, then release it.

    It is extended for 15 minutes at most. A block that loses its lease or takes longer is not
    stopped: its work must be safe while the next holder runs.
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
    """A lease that this process holds, in any table: ``kept`` uses ``Lease``, a space has columns.

    ``extend`` returns False if another holder has it now. ``release`` does nothing then.
    """

    name: str
    extend: Callable[[], bool]
    release: Callable[[], None]

    @contextmanager
    def extended(self, every_seconds: float, longest_seconds: float) -> Iterator[None]:
        """Extend the lease from a thread every ``every_seconds``; release it when the block ends.

        The thread stops when another holder has the lease, or when the block takes longer than
        ``longest_seconds``. While the database is away, it goes on trying.
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
    """Call ``extend`` and return its result; True while the database is away.

    True makes the caller try again later instead of giving the lease up.
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
    """Extend the lease by ``seconds`` from now; False when ``holder`` no longer has it."""
    mine = Lease.objects.filter(name=name, holder=holder)
    return bool(mine.update(expires_at=timezone.now() + timedelta(seconds=seconds)))
