"""The only writer of the bronze table: adds landed files to its Delta log without copying them.

The lease ``bronze-committer`` admits one run at a time. Before a commit, ``commit_number`` fixes in
the database which batches the commit adds. The number is also the version of the commit's Delta
transaction (``txn``). So a run after a killed one finds that the commit exists. And if a run loses
its lease, this run and the next one cannot both commit the same number.
"""

import time
import uuid
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path, PurePosixPath
from typing import Any

import structlog
from deltalake import CommitProperties, DeltaTable, Field, Transaction
from deltalake.exceptions import CommitFailedError
from deltalake.schema import PrimitiveType
from deltalake.transaction import AddAction
from django.db import transaction
from django.db.models import Max
from django.db.models.functions import Now

from controlplane.core import leases
from workers.metering import bronze, roots
from workers.metering.roots import Root
from workers.models import LandingBatch

logger = structlog.get_logger(__name__)

APP = "bronze-committer"
_LEASE_SECONDS = 60  # extended while the commit runs
# Batches in one commit. With smaller commits, a run that is killed after an outage of days has
# finished at least some of them.
_MOST = 500
# Invoices pin table versions for the audit period. ``lakehouse.schemas`` sets the same for other
# tables.
_KEPT = f"interval {bronze.audit_days()} days"
_KEPT_ROWS = timedelta(days=40)
_CHECKS = {
    "seq_positive": "seq > 0",
    "counters_positive": " AND ".join(
        bronze.not_negative(column)
        for role in ("counter", "peak")
        for column in bronze.columns_of_role(role)
    ),
}


@roots.translated_errors()
def commit_landed(root: Root) -> int:
    """Commit every landed batch to bronze; return how many, 0 if another run has the lease.

    After a kill at any point, the next run commits each batch exactly once.

    Raises:
        StoreAway, StoreRefuses, BucketMissing: the object store fails; nothing is lost.
    """
    with leases.kept(APP, uuid.uuid4().hex, _LEASE_SECONDS) as won:
        if not won:
            return 0
        commits = _Commits(ensure_table(root), root)
        # First the commits that a killed run numbered, then new ones.
        finished = commits.finish()
        while commits.number_landed() and (newest := commits.finish()):
            finished += newest
        return finished


def ensure_table(root: Root) -> DeltaTable:
    """Return the bronze table; create it, or add the meters that it lacks. Idempotent.

    A new table gets its constraints. An existing one keeps its constraints and its rows, which have
    null in added columns. Columns are added in one commit that adds no rows. Safe without the
    lease: a commit of files at the same time is refused, and the committer's next run does it.
    """
    uri, options = roots.uri(root, bronze.TABLE), roots.options(root)
    if DeltaTable.is_deltatable(uri, options):
        table = DeltaTable(uri, storage_options=options)
    else:
        if isinstance(root, Path):
            (root / bronze.TABLE).mkdir(parents=True, exist_ok=True)
        properties = {
            "delta.logRetentionDuration": _KEPT,
            "delta.deletedFileRetentionDuration": _KEPT,
        }
        table = DeltaTable.create(
            uri,
            bronze.schema(),
            mode="ignore",  # another process may create it at the same time
            partition_by=["date"],
            name="bronze_samples",
            configuration=properties,
            storage_options=options,
        )
    missing = set(_CHECKS) - {
        name.removeprefix("delta.constraints.") for name in table.metadata().configuration
    }
    if missing:  # the table is new, or its creation was interrupted
        table.alter.add_constraint({name: _CHECKS[name] for name in sorted(missing)})
    _add_lacking(table)
    return table


def _add_lacking(table: DeltaTable) -> None:
    """Add the meters that the table lacks, in one commit without rows."""
    meanings = bronze.meanings()
    if lacking := _lacking(table):
        fields = [
            Field(c, PrimitiveType("long"), metadata={"comment": meanings[c]}) for c in lacking
        ]
        try:
            table.alter.add_columns(fields)
        except CommitFailedError:  # another process may have added them
            table.update_incremental()
            if _lacking(table):
                raise


def _lacking(table: DeltaTable) -> list[str]:
    there = {field.name for field in table.schema().fields}
    return [c for c in bronze.schema().names if c in bronze.optional() and c not in there]


@roots.translated_errors()
def add_lacking(root: Root) -> None:
    """Add the meters that an existing bronze table lacks; do nothing if there is none. Idempotent.

    The pipeline calls it before a run: an older version may have created the table.

    Raises:
        StoreAway, StoreRefuses, BucketMissing: the object store fails.
    """
    if DeltaTable.is_deltatable(roots.uri(root, bronze.TABLE), roots.options(root)):
        ensure_table(root)


def commit_files(table: DeltaTable, root: Root, paths: Sequence[str], number: int) -> bool:
    """Add files to the table in one commit, whose Delta transaction has the version ``number``.

    Returns False, and adds nothing, if the table already has a transaction of this version or a
    later one. ``paths`` are relative to the table.

    Raises:
        CommitFailedError: another process committed at the same time; nothing was added.
    """
    if (table.transaction_version(APP) or 0) >= number:
        return False
    open_file = roots.reader(root)
    table.create_write_transaction(
        [add_action(open_file, path, data_change=True) for path in paths],
        mode="append",
        schema=table.schema(),
        partition_by=["date"],
        commit_properties=CommitProperties(app_transactions=[Transaction(APP, number)]),
    )
    table.update_incremental()
    return True


class _Commits:
    """Numbers landed batches and commits them to ``table``, whose files are under ``root``."""

    def __init__(self, table: DeltaTable, root: Root) -> None:
        self._table = table
        self._root = root

    def number_landed(self) -> int:
        """Assign the next commit number to the oldest landed batches, at most ``_MOST``.

        Returns how many batches got the number. It commits nothing.
        """
        with transaction.atomic():
            landed = LandingBatch.objects.select_for_update().filter(
                state=LandingBatch.State.LANDED, commit_number__isnull=True
            )
            numbers = list(landed.order_by("number").values_list("number", flat=True)[:_MOST])
            last = LandingBatch.objects.aggregate(last=Max("commit_number"))["last"] or 0
            # The table may be ahead of the database after a restore. Its number counts too, so that
            # no number is used twice.
            following = max(last, self._table.transaction_version(APP) or 0) + 1
            return LandingBatch.objects.filter(number__in=numbers).update(commit_number=following)

    def finish(self) -> int:
        """Make every commit that is numbered and not recorded as done; return how many batches.

        A commit that is in the table already is only recorded. If another process commits at the
        same time, the call stops early without an error.
        """
        numbered = LandingBatch.objects.filter(
            state=LandingBatch.State.LANDED, commit_number__isnull=False
        ).order_by("commit_number", "number")
        done = 0
        numbers = {number for number in numbered.values_list("commit_number", flat=True) if number}
        for number in sorted(numbers):
            batches = numbered.filter(commit_number=number)
            paths = list(batches.values_list("path", flat=True))
            try:
                commit_files(self._table, self._root, paths, number)
            except CommitFailedError:
                logger.warning(
                    "another process committed first; the next run continues", number=number
                )
                return done
            # The rows are in bronze now, so the outbox keeps only their number.
            done += batches.update(state=LandingBatch.State.COMMITTED, rows=[], committed_at=Now())
        return done


def forget_committed() -> int:
    """Delete the outbox rows of batches that were committed over 40 days ago; return how many.

    The rows with the last commit number stay, because that number is still read.
    """
    old = LandingBatch.objects.filter(
        state=LandingBatch.State.COMMITTED, committed_at__lt=Now() - _KEPT_ROWS
    )
    last = LandingBatch.objects.aggregate(last=Max("commit_number"))["last"]
    # ``number_landed`` and ``restored.check`` read the last number.
    deleted, _ = old.exclude(commit_number=last).delete()
    return deleted


def add_action(open_file: Callable[[str], Any], path: str, *, data_change: bool) -> AddAction:
    """Return the log's entry of the written file ``path``, with statistics from its footer.

    ``open_file`` opens a file by its path under the root. ``data_change`` False means that its rows
    were in the table before.
    """
    partition = PurePosixPath(path).parent.name.removeprefix("date=")
    with open_file(f"{bronze.TABLE}/{path}") as file:
        return AddAction(
            path=path,
            size=file.size(),
            partition_values={"date": partition},
            modification_time=int(time.time() * 1000),
            data_change=data_change,
            stats=bronze.statistics(file),
        )
