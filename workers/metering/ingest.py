"""Outbox -> files -> bronze, for the beat and for whoever cannot wait for it.

Each part is safe to repeat and to kill; together they bring every sampled counter into bronze.
"""

from collections.abc import Sequence
from pathlib import Path

from django.conf import settings

from workers.metering import committer, landing


def lakehouse_root() -> Path:
    """Return the folder of the lakehouse."""
    return Path(settings.LAKEHOUSE_ROOT)


def ingest(space_ids: Sequence[str] | None = None) -> int:
    """Land and commit what moved in some spaces, or in all; return the committed batches.

    Raises:
        LandingFull: the disk is full; everything waits in the outbox.
        LandingRefused: the files cannot be written for another reason.
    """
    landing.reserve_moved(space_ids)
    root = lakehouse_root()
    landing.write_reserved(root)
    return committer.commit_landed(root)


def tidy() -> None:
    """Remove what killed processes and past days left: temporary files, old outbox rows."""
    landing.remove_strays(lakehouse_root())
    committer.forget_committed()
