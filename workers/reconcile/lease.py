"""One worker at a time holds a space, for as long as its pass takes. Called by ``loop``.

The lease is two columns of the space: who, and until when. A worker that is killed frees the space
by that time. While a pass runs, a thread puts the end off, so that a step that takes longer than
the lease (a slow cluster, a large broker) lets no second worker in; for five minutes, so that one
that hangs does not keep the space.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Q

from controlplane.core import leases
from tenants.models import AddressSpace

LENGTH = timedelta(seconds=45)
_BEAT_SECONDS = 15.0
# A pass that takes longer than this hangs, most likely: another worker may try.
_LONGEST_SECONDS = 300.0


class Lost(Exception):
    """Another worker took the space over; whatever we would write is not ours to write."""


@dataclass(frozen=True)
class Lease:
    """What ``holder`` has or wants on a space; ``clock`` is the worker's."""

    space_id: str
    holder: str
    clock: Callable[[], datetime]

    def claim(self) -> bool:
        """Take the lease if it is free, ours or over; one conditional update, so one wins."""
        now = self.clock()
        free = Q(claimed_until__isnull=True) | Q(claimed_until__lt=now) | Q(claimed_by=self.holder)
        living = AddressSpace.objects.filter(free, id=self.space_id, deleted_at__isnull=True)
        return bool(living.update(claimed_by=self.holder, claimed_until=now + LENGTH))

    def extend(self) -> None:
        """Put the end off by the lease's length from now.

        Raises:
            Lost: it is not ours any more.
        """
        mine = AddressSpace.objects.filter(id=self.space_id, claimed_by=self.holder)
        if not mine.update(claimed_until=self.clock() + LENGTH):
            raise Lost

    def release(self) -> None:
        """Give the space back; does nothing when it is another's."""
        mine = AddressSpace.objects.filter(id=self.space_id, claimed_by=self.holder)
        mine.update(claimed_by="", claimed_until=None)

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Keep the lease from running out while the block runs, and give it back at its end.

        From five minutes on it is not put off any more, and ``extend`` may find it lost.
        """
        try:
            with leases.renewed(self.space_id, self._is_extended, _BEAT_SECONDS, _LONGEST_SECONDS):
                yield
        finally:
            self.release()

    def _is_extended(self) -> bool:
        try:
            self.extend()
        except Lost:
            return False  # the pass finds out after its step, and writes nothing
        return True
