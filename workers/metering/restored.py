"""After a restore: do the database and the lakehouse stem from the same instant?

The committer numbers its commits in the database and writes the number into the bronze table
(``committer``), and the database knows which version of gold it copied (``gold``): so each side
tells how far the other was. Called by ``manage.py after_restore``.
"""

from django.db.models import Max, QuerySet

from controlplane.core.errors import Conflict
from plans.models import UsageCopy
from workers.metering import committer, delta, sources
from workers.metering.roots import Root
from workers.models import LandingBatch

_MEND = "Restore both of one instant (docs/operate/backup.md) before a worker runs."


class LakehouseDiffers(Conflict):
    """Samples would be lost, or numbered twice."""

    code = "restore.lakehouse_differs"
    title = "Database and lakehouse are of different instants"


def check(root: Root) -> None:
    """Return if bronze holds every commit that the database knows of and no other, gold every copy.

    Raises:
        LakehouseDiffers: the message says which side is older.
    """
    numbered = LandingBatch.objects.filter(commit_number__isnull=False)
    committed = _last(numbered.filter(state=LandingBatch.State.COMMITTED))
    found = _found(root)
    if found < committed:
        raise LakehouseDiffers(
            f"The lakehouse is older than the database: its last commit is {found}, and the "
            f"database knows of {committed}. {_MEND}"
        )
    if found > _last(numbered):
        raise LakehouseDiffers(
            f"The lakehouse is newer than the database: its last commit is {found}, and the "
            f"database knows of {_last(numbered)}. {_MEND}"
        )
    _check_gold(root)


def forget_planned_restarts() -> None:
    """Take every stop after the backup for a crash: nobody knows what was done until the loss.

    A backup takes last samples and notes that all is about to restart; the notes are in it.
    """
    sources.living().update(restart_at=None)


def _check_gold(root: Root) -> None:
    copied = UsageCopy.objects.order_by("-copied_at", "-table_version").first()
    if copied is None:
        return
    found = delta.open_table(root, delta.USAGE) if delta.exists(root, delta.USAGE) else None
    if found is None or found.version() < copied.table_version:
        raise LakehouseDiffers(
            f"The lakehouse is older than the database, which copied version "
            f"{copied.table_version} of {delta.USAGE}. {_MEND}"
        )


def _last(batches: QuerySet[LandingBatch]) -> int:
    return batches.aggregate(last=Max("commit_number"))["last"] or 0


def _found(root: Root) -> int:
    if not delta.exists(root, delta.BRONZE):
        return 0
    return delta.open_table(root, delta.BRONZE).transaction_version(committer.APP) or 0
