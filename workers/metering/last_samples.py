"""The last sample before something is torn down or restarted; where others call into metering.

Of what is torn down it is all that will ever be counted: by then no client can use it any more. An
instance that restarts forgets its counters, so what was read just before is all of that life but
the moment until it stops.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from tenants.models import AddressSpace
from workers.metering import collector, landing, lives, sampling, sources
from workers.metering.readers import Readers
from workers.metering.sampling import Sampled

# So long is a silent instance asked before its space is torn down without a last sample; what it
# carried since the one before is shown as a gap.
PATIENCE = timedelta(minutes=10)
_WAIT_SECONDS = 5
_WAIT_FOR_ALL_SECONDS = 20  # a round under way over all spaces


@dataclass(frozen=True)
class LastSampler:
    """Takes last samples by ``readers``; see ``workers.reconcile.doors.Metering``."""

    readers: Readers

    def last_sample(self, space_id: str, addresses: Sequence[str] | None) -> bool:
        """Take the last sample of some addresses, or of the whole space (None) and end its lives.

        True when it is recorded or cannot ever be. False: not yet, ask again. Idempotent.
        """
        space = AddressSpace.objects.get(pk=space_id)
        [seen] = sampling.sample([space], self.readers, patience=_WAIT_SECONDS)
        is_complete = seen.is_applied and not seen.silent
        if addresses is not None:
            return is_complete
        if not is_complete and not _is_patience_over(space):
            return False
        end_space(space_id, seen.reached if seen.is_applied else frozenset())
        return True

    def before_restart(self, space_id: str, instance: str) -> bool:
        """Take the last sample before ``instance`` restarts, so that its end is no crash.

        True when it is recorded, or when nothing can be read: a restart may be what mends it.
        False: another round is reading the space, ask again. Idempotent.
        """
        space = AddressSpace.objects.get(pk=space_id)
        if space.active_since is None:
            return True  # nobody could use it yet
        [seen] = sampling.sample([space], self.readers, patience=_WAIT_SECONDS)
        _expect_restart(seen, {instance})
        return seen.is_applied or bool(seen.silent)

    def before_stop(self) -> bool:
        """Take the last samples before every instance stops; True when all of them are recorded."""
        spaces = sampling.list_spaces()
        rounds = sampling.sample(spaces, self.readers, patience=_WAIT_FOR_ALL_SECONDS)
        for seen in rounds:
            _expect_restart(seen, seen.reached)
        return all(seen.is_applied and not seen.silent for seen in rounds)


def end_space(space_id: str, reached: frozenset[str]) -> None:
    """End every life of the space, cleanly where the instance was just ``reached``."""
    now = timezone.now()
    clean = {f"{space_id}/{name}" for name in (*reached, lives.SPACE)}
    with transaction.atomic():
        states = sources.load(sources.living([space_id]))
        for is_clean in (True, False):
            steps = [collector.end(s) for s in states if (s.source in clean) is is_clean]
            sources.save([s for step in steps for s in step.states], now, cleanly=is_clean)
            landing.reserve([row for step in steps for row in step.rows])


def _expect_restart(seen: Sampled, instances: Collection[str]) -> None:
    if seen.is_applied:
        names = [f"{seen.space_id}/{name}" for name in seen.reached.intersection(instances)]
        sources.living().filter(source__in=names).update(restart_at=timezone.now())


def _is_patience_over(space: AddressSpace) -> bool:
    if space.active_since is None:
        return True  # nobody could ever use it
    requested_at = space.deletion_requested_at
    return requested_at is not None and timezone.now() - requested_at > PATIENCE
