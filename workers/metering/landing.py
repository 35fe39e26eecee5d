"""The outbox of samples: reserved (rows and ``seq`` fixed) -> file written -> landed.

``reserve`` runs in the transaction that takes the rows from the sources' states, so each row is in
a state or in the outbox and is never lost between them. ``write_reserved`` may be killed anywhere
and may run twice at once: a batch that has not landed is written again under the same id, and its
outbox row names the file of an attempt that finished.
"""

import errno
import os
import uuid
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import Any

from django.db import transaction
from django.db.models.functions import Now

from controlplane.core.errors import Unavailable
from workers.metering import bronze, collector, roots, sources
from workers.metering.roots import ObjectStore, Root
from workers.metering.source_states import SampleRow
from workers.models import LandingBatch

_INSTANTS = ("taken_at", "bucket_at")
_LATER = "Nothing is lost: the samples wait in the database and are written again automatically."
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


class LandingFull(Unavailable):
    """The disk of the lakehouse is full; every row waits in the outbox."""

    code = "metering.disk_full"
    title = "No disk space for samples"


class LandingRefused(Unavailable):
    """A landing file cannot be written for another reason; every row waits in the outbox."""

    code = "metering.landing_failed"
    title = "Samples cannot be written"


def reserve_moved(space_ids: Sequence[str] | None = None) -> int:
    """Reserve what changed since the last landing, with one heartbeat row per source.

    Sources that were not sampled since then have nothing to land. Returns the number of rows.
    """
    with transaction.atomic():
        states = [s for s in sources.load(sources.living(space_ids)) if s.unlanded]
        steps = [collector.land(state) for state in states]
        sources.save([state for step in steps for state in step.states])
        rows = [row for step in steps for row in step.rows]
        reserve(rows)
    return len(rows)


def reserve(rows: Iterable[SampleRow]) -> list[str]:
    """Put rows into the outbox, one batch per date; return the ids. Call it in a transaction."""
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
    """Write the file of every reserved batch; return how many landed.

    After an error the remaining batches wait for the next call.

    Raises:
        LandingFull: the disk is full.
        LandingRefused: the file system refuses for another reason.
        StoreAway, StoreRefuses, BucketMissing: the object store fails.
    """
    landed = 0
    reserved = LandingBatch.objects.filter(state=LandingBatch.State.RESERVED).order_by("number")
    for batch in reserved:
        rows = [_row(payload) for payload in batch.rows]
        content = bronze.encode(batch.id, rows)
        if isinstance(root, ObjectStore):
            # A name for each attempt: an upload is not atomic (see ``roots.put``).
            path = bronze.file_path(f"{batch.id}-{uuid.uuid4().hex}", rows[0].date)
            roots.put(root, f"{bronze.TABLE}/{path}", content)
        else:
            path = bronze.file_path(batch.id, rows[0].date)
            _write_file(root / bronze.TABLE / path, content)
        # Only the first of two attempts at once updates the row, so ``path`` names one whole file.
        landed += LandingBatch.objects.filter(
            number=batch.number, state=LandingBatch.State.RESERVED
        ).update(state=LandingBatch.State.LANDED, path=path, landed_at=Now())
    return landed


def waiting(tenant_id: str, until: datetime) -> int:
    """Return how many uncommitted samples of the tenant were taken before ``until``."""
    open_batches = LandingBatch.objects.exclude(state=LandingBatch.State.COMMITTED)
    return sum(
        1
        for payload in (p for batch in open_batches.iterator() for p in batch.rows)
        if payload["tenant_id"] == tenant_id and _row(payload).bucket_at < until
    )


def _write_file(path: Path, content: bytes) -> None:
    """Write ``content`` to ``path`` atomically and durably."""
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
    """Delete temporary files of processes that were killed before ``now``; return how many.

    Nothing is deleted in an object store. No table refers to what an interrupted upload left there.
    """
    if isinstance(root, ObjectStore):
        return 0
    before = (now - older_than).timestamp()
    orphans = [f for f in (root / bronze.TABLE).glob("date=*/.*.tmp") if f.stat().st_mtime < before]
    for orphan in orphans:
        orphan.unlink(missing_ok=True)
    return len(orphans)
