"""Take the last sample before a teardown or restart. The reconcile loop calls metering here.

Before a teardown the clients are disconnected, so the last sample counts everything. A restart
resets the counters of an instance, so the sample just before it counts everything except the
moment until the instance stops.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction

from tenants.models import AddressSpace
from workers.metering import collector, landing, sampling, source_states, sources
from workers.metering.readers import Readers
from workers.metering.sampling import Sampled

# For how long a deletion waits for a silent instance before it goes on without a last sample. The
# time since the previous sample is then shown as a gap.
PATIENCE = timedelta(minutes=10)
_WAIT_SECONDS = 5
_WAIT_FOR_ALL_SECONDS = 20  # for a sampling cycle over all spaces that is running now


@dataclass(frozen=True)
class LastSampler:
    """Takes last samples with ``readers``; implements ``workers.reconcile.ports.Metering``."""

    readers: Readers

    def last_sample(self, space_id: str, addresses: Sequence[str] | None) -> bool:
        """Take the last sample of some addresses, or of the whole space (None).

        For the whole space it also ends all incarnations. Returns True if the sample is recorded
        or never can be, False for "not yet, call again". Idempotent.
        """
        space = AddressSpace.objects.get(pk=space_id)
        [sampled] = sampling.sample([space], self.readers, patience=_WAIT_SECONDS)
        is_complete = sampled.is_applied and not sampled.silent
        if addresses is not None:
            return is_complete
        if not is_complete and not self._is_patience_over(space):
            return False
        end_space(
            space_id, sampled.reached if sampled.is_applied else frozenset(), self.readers.clock()
        )
        return True

    def before_restart(self, space_id: str, instance: str) -> bool:
        """Take the last sample before ``instance`` restarts, so that its end is not a crash.

        Returns True if the sample is recorded, or if nothing can be read: the restart may repair
        the instance. Returns False if another cycle is reading the space: call again. Idempotent.
        """
        space = AddressSpace.objects.get(pk=space_id)
        if space.active_since is None:
            return True  # no client could use it yet
        [sampled] = sampling.sample([space], self.readers, patience=_WAIT_SECONDS)
        self._expect_restart(sampled, {instance})
        return sampled.is_applied or bool(sampled.silent)

    def before_stop(self) -> bool:
        """Take the last samples before every instance stops; return whether all are recorded."""
        spaces = sampling.list_spaces()
        results = sampling.sample(spaces, self.readers, patience=_WAIT_FOR_ALL_SECONDS)
        for sampled in results:
            self._expect_restart(sampled, sampled.reached)
        return all(sampled.is_applied and not sampled.silent for sampled in results)

    def _expect_restart(self, sampled: Sampled, instances: Collection[str]) -> None:
        """Note that the instances restart now, so that their end does not count as a crash."""
        if sampled.is_applied:
            names = [
                f"{sampled.space_id}/{name}" for name in sampled.reached.intersection(instances)
            ]
            sources.living().filter(source__in=names).update(restart_at=self.readers.clock())

    def _is_patience_over(self, space: AddressSpace) -> bool:
        if space.active_since is None:
            return True  # no client could ever use it
        requested_at = space.deletion_requested_at
        return requested_at is not None and self.readers.clock() - requested_at > PATIENCE


def end_space(space_id: str, reached: frozenset[str], now: datetime) -> None:
    """End every incarnation of the space, cleanly if its instance was just ``reached``."""
    clean = {f"{space_id}/{name}" for name in (*reached, source_states.SPACE)}
    with transaction.atomic():
        states = sources.load(sources.living([space_id]))
        for is_clean in (True, False):
            steps = [collector.end(s) for s in states if (s.source in clean) is is_clean]
            sources.save([s for step in steps for s in step.states], ended_at=now, cleanly=is_clean)
            landing.reserve([row for step in steps for row in step.rows])
