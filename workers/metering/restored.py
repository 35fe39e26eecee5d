"""Check after a restore that the database and the lakehouse are of the same instant.

The database and the bronze table both have the numbers of the commits (``committer``), and the
database has the version of gold that it copied (``gold``). So each side shows how far the other
was. Called by ``manage.py after_restore``.
"""

from django.db.models import Max, QuerySet

from controlplane.core.errors import Conflict
from plans.models import UsageCopy
from workers.metering import committer, delta, sources
from workers.metering.roots import Root
from workers.models import LandingBatch

_REMEDY = "Restore both from one backup (docs/operate/backup.md) before a worker runs."


class LakehouseDiffers(Conflict):
    """Samples would be lost, or their numbers used twice."""

    code = "restore.lakehouse_differs"
    title = "Database and lakehouse are of different instants"


def check(root: Root) -> None:
    """Check that the lakehouse has every commit and copy that the database knows, and no others.

    A commit that was numbered and not recorded as done may be in bronze or not.

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

    Before a backup, last samples are taken and all restarts are noted, so the notes are in it. The
    usage between the backup and the loss is unknown.
    """
    sources.living().update(restart_at=None)


def _last(batches: QuerySet[LandingBatch]) -> int:
    return batches.aggregate(last=Max("commit_number"))["last"] or 0
