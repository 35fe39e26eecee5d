"""Check after a restore that the database and the lakehouse are of the same instant.

The database and the bronze table both record the numbers of the commits (``committer``). The
database also records which version of gold was copied to it (``gold``). So a comparison shows which
side is older. ``manage.py after_restore`` calls this module.
"""

from django.db.models import Max, QuerySet

from controlplane.core.errors import Conflict
from plans.models import UsageCopy
from workers.metering import committer, delta, sources
from workers.metering.roots import Root
from workers.models import LandingBatch

_REMEDY = "Restore both from one backup (docs/operate/backup.md) before a worker runs."


class LakehouseDiffers(Conflict):
    """Database and lakehouse do not fit: samples would be lost, or their numbers used twice."""

    code = "restore.lakehouse_differs"
    title = "Database and lakehouse are of different instants"


def check(root: Root) -> None:
    """Check that the lakehouse fits the database.

    * Bronze has every commit that the database records as done.
    * Every commit of bronze has a number in the database. A commit that is numbered but not
      recorded as done may be in bronze or not.
    * Gold has at least the version that was copied last.

    Raises:
        LakehouseDiffers: the message says which side is older.
    """
    numbered = LandingBatch.objects.filter(commit_number__isnull=False)
    committed = _last(numbered.filter(state=LandingBatch.State.COMMITTED))
    found = 0
    if delta.exists(root, delta.BRONZE):
        found = delta.open_table(root, delta.BRONZE).transaction_version(committer.APP) or 0
    if found < committed:
        raise LakehouseDiffers(
            f"The lakehouse is older than the database: its last commit is {found}, and the "
            f"database knows of {committed}. {_REMEDY}"
        )
    if found > _last(numbered):
        raise LakehouseDiffers(
            f"The lakehouse is newer than the database: its last commit is {found}, and the "
            f"database knows of {_last(numbered)}. {_REMEDY}"
        )
    copied = UsageCopy.objects.order_by("-copied_at", "-table_version").first()
    if copied is None:
        return
    usage = delta.open_table(root, delta.USAGE) if delta.exists(root, delta.USAGE) else None
    if usage is None or usage.version() < copied.table_version:
        raise LakehouseDiffers(
            f"The lakehouse is older than the database, which copied version "
            f"{copied.table_version} of {delta.USAGE}. {_REMEDY}"
        )


def forget_planned_restarts() -> None:
    """Delete the notes of planned restarts, so that every stop after the backup counts as a crash.

    The backup contains such notes, because every instance is sampled a last time before the backup.
    But the usage between the backup and the loss is unknown, and only a crash is shown as a gap.
    """
    sources.living().update(restart_at=None)


def _last(batches: QuerySet[LandingBatch]) -> int:
    return batches.aggregate(last=Max("commit_number"))["last"] or 0
