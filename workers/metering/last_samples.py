"""Take the last samples before addresses or spaces are deleted, and before instances stop.

The reconcile loop calls this module by its port ``Metering``. The embedded installation calls it
before ``waypost down`` and before a backup (``controlplane.cli.sample``). Before a deletion the
clients are disconnected, so the last sample counts everything. A restart resets the counters of an
instance. The sample just before a restart counts everything except what passes until the instance
stops.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction

from tenants.models import AddressSpace
from workers.metering import collector, landing, sampling, source_states, sources
from workers.metering.readers import Readers
from workers.metering.sampling import Sampled

# For how long the deletion of a space waits for a silent instance, from the request on. Then it
# goes on without a last sample, and the time since the previous sample is shown as a gap.
PATIENCE = timedelta(minutes=10)
_WAIT_SECONDS = 5  # for a running sampling cycle of the space
_WAIT_FOR_ALL_SECONDS = 20  # for a sampling cycle over all spaces that is running now


@dataclass(frozen=True)
class LastSampler:
    """Takes last samples with ``readers``; implements ``workers.reconcile.ports.Metering``."""

    readers: Readers

    def last_sample(self, space_id: str, addresses: Sequence[str] | None) -> bool:
        """Sample a space before ``addresses``, or the whole space (None), are deleted.

        It reads all instances of the space. Return whether all instances have answered and the
        sample is stored. False means "not yet, call again". For the whole space it then also ends
        all incarnations. It does so, and returns True, without an answer too, if no client could
        ever use the space, or if its deletion was requested more than ``PATIENCE`` ago. Idempotent.
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
        """Sample the space before ``instance`` restarts; return whether it may restart now.

        The restart then does not count as a crash. Returns True if the space was sampled, or could
        not be used by clients yet. Also returns True if an instance is silent, because the restart
        may repair it, and if samples cannot be stored. Returns False if another cycle is reading
        the space: call again. Idempotent.
        """
        space = AddressSpace.objects.get(pk=space_id)
        if space.active_since is None:
            return True  # no client could use it yet
        [sampled] = sampling.sample([space], self.readers, patience=_WAIT_SECONDS)
        self._expect_restart(sampled, {instance})
        return sampled.is_applied or bool(sampled.silent or sampled.failed)

    def before_stop(self) -> bool:
        """Take the last samples before all instances of all spaces stop.

        Returns whether every instance has answered and every sample is stored. Idempotent.
        """
        spaces = sampling.list_spaces()
        results = sampling.sample(spaces, self.readers, patience=_WAIT_FOR_ALL_SECONDS)
        for sampled in results:
            self._expect_restart(sampled, sampled.reached)
        return all(sampled.is_applied and not sampled.silent for sampled in results)

    def _expect_restart(self, sampled: Sampled, instances: Collection[str]) -> None:
        """Store that ``instances`` restart now, as far as they were just sampled.

        The end of their incarnation then does not count as a crash. Nothing is stored if the sample
        was not stored.
        """
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
    """End every incarnation of the space, and put its last rows into the outbox. Idempotent.

    An incarnation ends cleanly if its instance is in ``reached``: it was sampled just before.
    """
    clean = {f"{space_id}/{name}" for name in (*reached, source_states.SPACE)}
    with transaction.atomic():
        states = sources.load(sources.living([space_id]))
        # Twice, because ``save`` takes one ``cleanly`` for all states.
        for is_clean in (True, False):
            steps = [collector.end(s) for s in states if (s.source in clean) is is_clean]
            sources.save([s for step in steps for s in step.states], ended_at=now, cleanly=is_clean)
            landing.reserve([row for step in steps for row in step.rows])
