"""The one writer of the bronze table: adds landed files to its Delta log without copying them.

One run at a time, under the lease ``bronze-committer``. Which batches a commit takes in is fixed in
the database before it (``commit_number``), and the number is the commit's Delta transaction id:
so a run that was killed after the commit finds it done, and two runs at once cannot both commit.
"""

import time
import uuid
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path, PurePosixPath
from typing import Any

import structlog
from deltalake import CommitProperties, DeltaTable, Transaction
from deltalake.exceptions import CommitFailedError
from deltalake.transaction import AddAction
from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from controlplane.core import leases
from workers.metering import bronze, roots
from workers.metering.roots import Root
from workers.models import LandingBatch

logger = structlog.get_logger(__name__)

APP = "bronze-committer"
_LEASE_SECONDS = 60
# Batches in one commit: after days of an outage a run that is cut off has got on by some commits.
_MOST = 500
# Invoices pin table versions for the audit period (lakehouse.tables keeps the same).
_KEPT = "interval 4018 days"
_KEPT_ROWS = timedelta(days=40)
_CHECKS = {
    "seq_positive": "seq > 0",
    "counters_positive": "messages_in >= 0 AND messages_out >= 0 AND stored_byte_ms >= 0 "
    "AND connections_opened >= 0 AND connection_ms >= 0 AND peak_connections >= 0",
}


@roots.in_words()
def commit_landed(root: Root) -> int:
    """Take every landed batch into bronze; return how many. 0 too when another run holds the lease.

    Killed anywhere, the next run commits each batch exactly once.

    Raises:
        StoreAway, StoreRefuses, BucketMissing: the object store is in the way; nothing is lost.
    """
    with leases.kept(APP, uuid.uuid4().hex, _LEASE_SECONDS) as won:
        if not won:
            return 0
        table = ensure_table(root)
        finished = _finish(table, root)
        while _number_landed(table) and (newest := _finish(table, root)):
            finished += newest
        return finished


def ensure_table(root: Root) -> DeltaTable:
    """Return the bronze table, created with its constraints when it is not there. Idempotent."""
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
            mode="ignore",
            partition_by=["date"],
            name="bronze_samples",
            configuration=properties,
            storage_options=options,
        )
    missing = set(_CHECKS) - {
        name.removeprefix("delta.constraints.") for name in table.metadata().configuration
    }
    if missing:  # a table whose making was cut short
        table.alter.add_constraint({name: _CHECKS[name] for name in sorted(missing)})
    return table


def commit_files(table: DeltaTable, root: Root, paths: Sequence[str], number: int) -> bool:
    """Add files in one commit with transaction id ``number``; False when that is there already.

    Raises:
        CommitFailedError: another process committed between; nothing was added.
    """
    if (table.transaction_version(APP) or 0) >= number:
        return False
    open_file = roots.reader(root)
    table.create_write_transaction(
        [_add_action(open_file, path) for path in paths],
        mode="append",
        schema=bronze.schema(),
        partition_by=["date"],
        commit_properties=CommitProperties(app_transactions=[Transaction(APP, number)]),
    )
    table.update_incremental()
    return True


def _number_landed(table: DeltaTable) -> int:
    """Fix which batches the next commit takes in, at most ``_MOST``; return how many."""
    with transaction.atomic():
        landed = LandingBatch.objects.select_for_update().filter(
            state=LandingBatch.State.LANDED, commit_number__isnull=True
        )
        numbers = list(landed.order_by("number").values_list("number", flat=True)[:_MOST])
        last = LandingBatch.objects.aggregate(last=Max("commit_number"))["last"] or 0
        following = max(last, table.transaction_version(APP) or 0) + 1
        return LandingBatch.objects.filter(number__in=numbers).update(commit_number=following)


def _finish(table: DeltaTable, root: Root) -> int:
    """Make every numbered commit that is not known to be done; return how many batches."""
    numbered = LandingBatch.objects.filter(
        state=LandingBatch.State.LANDED, commit_number__isnull=False
    ).order_by("commit_number", "number")
    done = 0
    numbers = {number for number in numbered.values_list("commit_number", flat=True) if number}
    for number in sorted(numbers):
        batches = numbered.filter(commit_number=number)
        try:
            commit_files(table, root, list(batches.values_list("path", flat=True)), number)
        except CommitFailedError:
            logger.warning("another process committed first; the next run goes on", number=number)
            return done
        done += batches.update(
            state=LandingBatch.State.COMMITTED, rows=[], committed_at=timezone.now()
        )
    return done


def forget_committed() -> int:
    """Delete the outbox rows of batches committed long ago; return how many."""
    old = LandingBatch.objects.filter(
        state=LandingBatch.State.COMMITTED, committed_at__lt=timezone.now() - _KEPT_ROWS
    )
    last = LandingBatch.objects.aggregate(last=Max("commit_number"))["last"]
    deleted, _ = old.exclude(commit_number=last).delete()
    return deleted


def _add_action(open_file: Callable[[str], Any], path: str) -> AddAction:
    partition = PurePosixPath(path).parent.name.removeprefix("date=")
    with open_file(f"{bronze.TABLE}/{path}") as file:
        return AddAction(
            path=path,
            size=file.size(),
            partition_values={"date": partition},
            modification_time=int(time.time() * 1000),
            data_change=True,
            stats=bronze.statistics(file),
        )
