"""Bring the sampled counters into bronze: states -> outbox -> files -> bronze table.

The periodic task ``workers.land`` and each close call ``ingest``. Each of its parts may be killed
and repeated.
"""

from collections.abc import Sequence
from datetime import datetime

from workers.metering import committer, landing, roots, run_history
from workers.metering.roots import Root


def lakehouse_root() -> Root:
    """Return the configured root of the lakehouse."""
    return roots.configured()


def ingest(space_ids: Sequence[str] | None = None) -> int:
    """Land and commit the new samples; return how many batches this call committed.

    ``space_ids``: take new samples only from these spaces; None means all. Whatever waits in the
    outbox is written and committed too. Nothing is committed while another process commits. After
    an error the rest waits in the outbox.

    Raises:
        LandingFull: the disk is full.
        LandingRefused: the files cannot be written for another reason.
        StoreAway, StoreRefuses, BucketMissing: the object store fails.
    """
    landing.reserve_moved(space_ids)
    root = lakehouse_root()
    landing.write_reserved(root)
    return committer.commit_landed(root)


def tidy(now: datetime) -> None:
    """Delete temporary files of killed processes, and outbox rows and runs of over 40 days ago."""
    landing.remove_orphans(lakehouse_root(), now)
    committer.forget_committed()
    run_history.forget(now)
