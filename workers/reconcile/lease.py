"""The lease of a space: one worker at a time reconciles the space. Called by ``loop``.

The lease is two columns of the space: the holder, and when the lease ends. So the lease of a killed
worker ends by itself. While a pass runs, a thread extends the lease, so that no second worker
starts while a step takes longer than the lease (a slow cluster, a large broker). The thread stops
after ``time_limits.LEASE_SECONDS``, so that a pass that hangs does not keep the space. Celery ends
the task of a pass before.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Q

from controlplane.core import leases, time_limits
from tenants.models import AddressSpace

LENGTH = timedelta(seconds=45)  # then another worker may take the space over
_RENEW_SECONDS = 15.0  # a third of the lease: one failed renewal does not lose it
# A pass that takes longer than this most likely hangs: another worker may try.
_LONGEST_SECONDS = float(time_limits.LEASE_SECONDS)


class Lost(Exception):
    """The lease of the space is not ours any more; this worker must not write anything any more."""


@dataclass(frozen=True)
class Lease:
    """Claims, extends and releases the lease of ``holder`` on a space; ``clock`` gives the time."""

    space_id: str
    holder: str
    clock: Callable[[], datetime]

    def claim(self) -> bool:
        """Take the lease for 45 s if it is free, ours or expired; return whether ``holder`` has it.

        One conditional update, so only one of several workers wins. False for a deleted space.
        """
        now = self.clock()
        free = Q(claimed_until__isnull=True) | Q(claimed_until__lt=now) | Q(claimed_by=self.holder)
        space = AddressSpace.objects.filter(free, id=self.space_id, deleted_at__isnull=True)
        return bool(space.update(claimed_by=self.holder, claimed_until=now + LENGTH))

    def extend(self) -> None:
        """Extend the lease to its full length from now.

        Raises:
            Lost: the lease is not ours any more.
        """
        mine = AddressSpace.objects.filter(id=self.space_id, claimed_by=self.holder)
        if not mine.update(claimed_until=self.clock() + LENGTH):
            raise Lost

    def release(self) -> None:
        """Give the lease back; do nothing if it is not ours."""
        mine = AddressSpace.objects.filter(id=self.space_id, claimed_by=self.holder)
        mine.update(claimed_by="", claimed_until=None)

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Extend a claimed lease from a thread while the block runs; give it back at its end.

        After 15 minutes the thread stops. When the lease has then expired, another worker may
        claim the space, and ``extend`` raises ``Lost``.
        """
        stored = leases.StoredLease(self.space_id, self._is_extended, self.release)
        with stored.extended(_RENEW_SECONDS, _LONGEST_SECONDS):
            yield

    def _is_extended(self) -> bool:
        try:
            self.extend()
        except Lost:
            # The pass calls ``extend`` itself after each step. It raises there, and ends the pass.
            return False
        return True
