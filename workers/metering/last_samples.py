"""The last sample before something is torn down; the reconcile loop's hook into metering.

By then no client can use what is leaving, so what is read here is all that will ever be counted.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from tenants.models import AddressSpace
from workers.metering import collector, landing, lives, sampling, sources
from workers.metering.readers import Readers

# So long is a silent instance asked before its space is torn down without a last sample; what it
# carried since the one before is shown as a gap.
PATIENCE = timedelta(minutes=10)
_WAIT_SECONDS = 5


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


def _is_patience_over(space: AddressSpace) -> bool:
    if space.active_since is None:
        return True  # nobody could ever use it
    requested_at = space.deletion_requested_at
    return requested_at is not None and timezone.now() - requested_at > PATIENCE
