"""Outbox -> files -> bronze, for the beat and for whoever cannot wait for it.

Each part is safe to repeat and to kill; together they bring every sampled counter into bronze.
"""

from collections.abc import Sequence

from workers.metering import committer, landing, roots
from workers.metering.roots import Root


def lakehouse_root() -> Root:
    """Return where the lakehouse lies."""
    return roots.configured()


def ingest(space_ids: Sequence[str] | None = None) -> int:
    """Land and commit what moved in some spaces, or in all; return the committed batches.

    Raises:
        LandingFull: the disk is full; everything waits in the outbox.
        LandingRefused: the files cannot be written for another reason.
        StoreAway, StoreRefuses, BucketMissing: the object store is in the way; the same holds.
    """
    landing.reserve_moved(space_ids)
    root = lakehouse_root()
    landing.write_reserved(root)
    return committer.commit_landed(root)


def tidy() -> None:
    """Remove what killed processes and past days left: temporary files, old outbox rows."""
    landing.remove_strays(lakehouse_root())
    committer.forget_committed()
