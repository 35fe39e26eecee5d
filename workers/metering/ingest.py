"""Bring every sampled counter into bronze: outbox -> files -> bronze.

The periodic task calls it, and so does everything that cannot wait for the task. Each part may be
killed and repeated.
"""

from collections.abc import Sequence
from datetime import datetime

from workers.metering import committer, landing, roots
from workers.metering.roots import Root


def lakehouse_root() -> Root:
    """Return the root of the lakehouse."""
    return roots.configured()


def ingest(space_ids: Sequence[str] | None = None) -> int:
    """Land and commit the new samples of some spaces (None: all); return the committed batches.

    After an error everything waits in the outbox.

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
    """Remove temporary files of killed processes, and old outbox rows."""
    landing.remove_orphans(lakehouse_root(), now)
    committer.forget_committed()
