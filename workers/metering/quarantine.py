"""Copy the newest quarantined samples to the database, where operators see them.

``periodic.compute_usage`` calls ``copy_newest``, also if the Spark job had nothing to do.
Quarantined rows stay in the lakehouse; the copy keeps the newest ones only.
"""

import heapq
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable
from django.db import transaction
from django.db.models import Field
from django.db.models.functions import Now

from workers.metering import delta, roots
from workers.metering.roots import Root
from workers.models import QuarantinedSample

KEPT = 1000  # rows of the copy
_TEXTS = ("tenant_id", "space_id", "source", "boot_id", "address", "batch_id", "reason", "detail")
_VALUES = ("seq", "epoch", "taken_at")
_EARLIEST = datetime.min.replace(tzinfo=UTC)


@roots.translated_errors()
def copy_newest(root: Root) -> int:
    """Copy rows that the quarantine got since the last copy; return how many are new. Idempotent.

    It reads only files that the last copied version does not have. Of many rows the ``KEPT`` with
    the latest ``taken_at`` are copied, and the copy keeps the ``KEPT`` that it got last.

    Raises:
        StoreAway, StoreRefuses, BucketMissing: the object store fails.
    """
    if not delta.exists(root, delta.QUARANTINE):
        return 0
    table = delta.open_table(root, delta.QUARANTINE)
    table_id, version = str(table.metadata().id), int(table.version())
    keys = QuarantinedSample.objects.order_by("-id").values_list("pk", flat=True)
    newest = QuarantinedSample.objects.order_by("-id").first()
    # The version of another table says nothing about this one.
    last = newest.table_version if newest and newest.table_id == table_id else None
    if last == version:
        return 0
    # A lakehouse that was restored from a backup may be older than the copy. Then all is compared.
    before = last is not None and last < version
    known = _files(delta.open_table(root, delta.QUARANTINE, version=last)) if before else set()
    rows = heapq.nlargest(KEPT, _rows(root, sorted(_files(table) - known)), key=_taken_at)
    origin = {"table_id": table_id, "table_version": version, "copied_at": Now()}
    found = [QuarantinedSample(**origin, **_columns(row)) for row in reversed(rows)]
    with transaction.atomic():
        n_before = QuarantinedSample.objects.count()
        QuarantinedSample.objects.bulk_create(found, ignore_conflicts=True)
        n_new = QuarantinedSample.objects.count() - n_before
        # Also if all of ``found`` was known: the next call must not read these files again.
        QuarantinedSample.objects.filter(pk__in=list(keys[:1])).update(
            table_id=table_id, table_version=version
        )
        for oldest_kept in keys[KEPT - 1 : KEPT]:
            QuarantinedSample.objects.filter(pk__lt=oldest_kept).delete()
    return n_new


def _files(table: DeltaTable) -> set[str]:
    return {action["path"] for action in pa.table(table.get_add_actions()).to_pylist()}


def _rows(root: Root, paths: Sequence[str]) -> Iterator[dict[str, Any]]:
    open_file = roots.reader(root)
    for path in paths:
        with open_file(f"{delta.FOLDERS[delta.QUARANTINE]}/{unquote(path)}") as file:
            for batch in pq.ParquetFile(file).iter_batches(columns=[*_TEXTS, *_VALUES]):
                yield from batch.to_pylist()


def _taken_at(row: dict[str, Any]) -> datetime:
    found: datetime | None = row["taken_at"]
    if found is None:
        return _EARLIEST
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _longest(name: str) -> int | None:
    """Return the most characters in the column ``name`` of the copy; None without a limit."""
    field = QuarantinedSample._meta.get_field(name)
    return field.max_length if isinstance(field, Field) else None


def _columns(row: dict[str, Any]) -> dict[str, Any]:
    """Return the columns of the copy; a refused row may lack any of them, or exceed its length."""
    texts = {name: (row[name] or "")[: _longest(name)] for name in _TEXTS}
    values = {"seq": row["seq"], "epoch": row["epoch"]}
    return {**texts, **values, "taken_at": _taken_at(row) if row["taken_at"] else None}
