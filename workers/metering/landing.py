"""The outbox of samples: batches of rows that wait to be written to files (``LandingBatch``).

1. ``reserve`` stores a batch; its rows and their ``seq`` never change afterwards. It runs in the
   transaction that takes the rows from the sources' states. So each row is in a state or in the
   outbox and is never lost between them.
2. ``write_reserved`` writes the batch to a file and marks the batch as landed. It may be killed
   anywhere and may run twice at once. A batch that has not landed is written again under the same
   id, and its outbox row names the file of an attempt that finished.
3. ``committer`` adds the files to the bronze table.
"""

import errno
import os
import uuid
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import Any

from django.db import transaction
from django.db.models.functions import Now

from controlplane.core.errors import Unavailable
from workers.metering import bronze, collector, file_hashes, roots, sources
from workers.metering.roots import ObjectStore, Root
from workers.metering.source_states import SampleRow
from workers.models import LandingBatch

_INSTANTS = ("taken_at", "bucket_at")  # columns that JSON holds as text
_LATER = "Nothing is lost: the samples wait in the database and are written again automatically."
# The volume, the quota or the largest size of a file.
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


class LandingFull(Unavailable):
    """The disk of the lakehouse is full; the rows that are not written yet wait in the outbox."""

    code = "metering.disk_full"
    title = "No disk space for samples"


class LandingRefused(Unavailable):
    """A landing file cannot be written, not for lack of space; its rows wait in the outbox."""

    code = "metering.landing_failed"
    title = "Samples cannot be written"


def reserve_moved(space_ids: Sequence[str] | None = None) -> int:
    """Put into the outbox what living sources counted since they last landed; return the row count.

    ``space_ids``: only sources of these spaces; None means all. Each source that was sampled since
    its last landing gives one heartbeat row, and one row for each address whose counters changed.
    """
    with transaction.atomic():
        states = [s for s in sources.load(sources.living(space_ids)) if s.unlanded]
        steps = [collector.land(state) for state in states]
        sources.save([state for step in steps for state in step.states])
        rows = [row for step in steps for row in step.rows]
        reserve(rows)
    return len(rows)


def reserve(rows: Iterable[SampleRow]) -> list[str]:
    """Put rows into the outbox, one batch per date; return the ids of the batches.

    Call it in the transaction that stores the states from which the rows were taken.
    """
    ids = []
    # One file belongs to one partition (date); ``groupby`` needs sorted rows.
    for _, dated in groupby(sorted(rows, key=lambda row: row.date), key=lambda row: row.date):
        payload = [
            {**row.columns, **{name: getattr(row, name).isoformat() for name in _INSTANTS}}
            for row in dated
        ]
        batch = LandingBatch.objects.create(id=uuid.uuid4().hex, rows=payload, n_rows=len(payload))
        ids.append(batch.id)
    return ids


def write_reserved(root: Root) -> int:
    """Write the file of every reserved batch; return how many batches this call landed.

    After an error the batch and all later ones wait for the next call. Safe to repeat.

    Raises:
        LandingFull: the disk is full, or a quota or size limit is reached.
        LandingRefused: the file system refuses for another reason.
        StoreAway, StoreRefuses, BucketMissing: the object store fails.
    """
    landed = 0
    reserved = LandingBatch.objects.filter(state=LandingBatch.State.RESERVED).order_by("number")
    for batch in reserved:
        rows = [_row(payload) for payload in batch.rows]
        content = bronze.encode(batch.id, rows)
        if isinstance(root, ObjectStore):
            # Another name for each attempt, because an upload is not atomic (see ``roots.put``).
            path = bronze.file_path(f"{batch.id}-{uuid.uuid4().hex}", rows[0].date)
            roots.put(root, f"{bronze.TABLE}/{path}", content)
        else:
            path = bronze.file_path(batch.id, rows[0].date)
            write_file(root / bronze.TABLE / path, content)
        with transaction.atomic():
            # Of two attempts at once only the first to finish updates the row, so ``path`` names
            # one whole file. In a folder, both attempts write the same bytes to the same path.
            landed += LandingBatch.objects.filter(
                number=batch.number, state=LandingBatch.State.RESERVED
            ).update(state=LandingBatch.State.LANDED, path=path, landed_at=Now())
            file_hashes.record(path, content)
    return landed


def waiting(tenant_id: str, until: datetime) -> int:
    """Return how many of the tenant's rows in the outbox are not committed to bronze yet.

    It counts rows of buckets that begin before ``until``. Samples that are only in the sources'
    states do not count.
    """
    return waiting_each(until)[tenant_id]


def waiting_each(until: datetime) -> Counter[str]:
    """Return {tenant id: number of such rows}, as ``waiting`` counts them for one tenant."""
    open_batches = LandingBatch.objects.exclude(state=LandingBatch.State.COMMITTED)
    return Counter(
        str(payload["tenant_id"])
        for payload in (p for batch in open_batches.iterator() for p in batch.rows)
        if _row(payload).bucket_at < until
    )


def write_file(path: Path, content: bytes) -> None:
    """Write ``content`` to ``path`` atomically and durably.

    After a kill or a power failure the file is whole or absent.

    Raises:
        LandingFull, LandingRefused: it was not written.
    """
    # The process id keeps two attempts at once apart.
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        _sync_folder(path.parent)  # makes the rename itself survive a power failure
    except OSError as error:
        temporary.unlink(missing_ok=True)
        if error.errno in _FULL:
            raise LandingFull(
                f"The disk that holds {path.parent} is full: free space. {_LATER}"
            ) from error
        raise LandingRefused(
            f"{path.parent} cannot be written ({error.strerror}). {_LATER}"
        ) from error


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _row(payload: dict[str, Any]) -> SampleRow:
    instants = {name: datetime.fromisoformat(payload[name]) for name in _INSTANTS}
    return SampleRow.of_columns({**payload, **instants})


def remove_orphans(root: Root, now: datetime, older_than: timedelta = timedelta(hours=1)) -> int:
    """Delete temporary files that are older than ``older_than`` at ``now``; return how many.

    The processes that wrote them were killed. Nothing is deleted in an object store, where
    interrupted uploads may leave files that no table refers to.
    """
    if isinstance(root, ObjectStore):
        return 0
    before = (now - older_than).timestamp()
    orphans = [f for f in (root / bronze.TABLE).glob("date=*/.*.tmp") if f.stat().st_mtime < before]
    for orphan in orphans:
        orphan.unlink(missing_ok=True)
    return len(orphans)
