"""Compact and clean the bronze table, which only ``deltalake`` writes.

``housekeeping.run`` calls this once a day. No row changes: a compaction marks its files as no
change of data, so the pipeline reads none of them again. Old files stay for the audit period, so
each version that an invoice pins can still be read.

A compaction must not give altered bytes a valid hash. So it compares each file with its recorded
hash, decodes the very bytes that it compared, and records the hashes of new files before their
commit.
"""

import io
import uuid
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq
import structlog
from deltalake import CommitProperties, DeltaTable, Transaction
from deltalake.exceptions import CommitFailedError

from controlplane.core import leases
from workers.metering import bronze, committer, delta, file_hashes, landing, roots
from workers.metering.roots import Root

logger = structlog.get_logger(__name__)

# As in ``lakehouse.jobs.housekeeping``: late samples mostly come within two days.
_SETTLED = timedelta(days=2)
_LEASE_SECONDS = 60
# Bytes of a whole file. A rewritten day has at most one smaller file, so it is not rewritten again.
_WHOLE = 64 << 20
_ROW_GROUP = 1 << 18  # rows, which bound the memory of a compaction


@dataclass(frozen=True)
class Compacted:
    """What one run did: how many days it rewrote, and the files of bronze before and after.

    ``altered`` has the paths of files that are missing, unreadable, or different from their
    recorded hash. Their days are left as they are.
    """

    days: int
    files_before: int
    files_after: int
    altered: tuple[str, ...] = ()


class _FileAltered(Exception):
    """A file is missing, unreadable, or has another hash; the argument is its path."""


@roots.translated_errors()
def compact(root: Root, today: date) -> Compacted | None:
    """Rewrite each day older than two days that has several small files; delete old files.

    Idempotent.

    ``today`` is the UTC date. None if there is no bronze, or while another process commits to it.
    Safe to kill: each day is one commit.

    Raises:
        StoreAway, StoreRefuses, BucketMissing: the object store fails.
    """
    with leases.kept(committer.APP, uuid.uuid4().hex, _LEASE_SECONDS) as won:
        if not won or not delta.exists(root, delta.BRONZE):
            return None
        table = committer.ensure_table(root)
        before = _files_by_day(table)
        done, altered = 0, list[str]()
        for day, files in sorted(before.items()):
            if not (day < today - _SETTLED and sum(size < _WHOLE for size in files.values()) > 1):
                continue
            try:
                done += _Rewriting(table, root, day).run(sorted(files))
            except _FileAltered as error:
                altered.append(str(error))
        table.create_checkpoint()
        table.cleanup_metadata()  # by the table's own retention of its log
        table.vacuum(retention_hours=bronze.audit_days() * 24, dry_run=False)
        if altered:
            logger.error("files of bronze are altered; their days are left", paths=altered[:20])
        after = _files_by_day(table)
        n_before, n_after = (sum(map(len, files.values())) for files in (before, after))
        return Compacted(done, n_before, n_after, tuple(altered))


@dataclass
class _Rewriting:
    """Rewrites one day of the bronze ``table`` into few files; ``run`` does it."""

    table: DeltaTable
    root: Root
    day: date
    _written: list[str] = field(default_factory=list)

    def run(self, paths: Sequence[str]) -> bool:
        """Replace the day's files ``paths`` by new ones with the same rows, in one commit.

        Returns False, and replaces nothing, if another process committed at the same time.

        Raises:
            _FileAltered: a file is not what landed; nothing was replaced.
        """
        sink, size = io.BytesIO(), 0
        writer = pq.ParquetWriter(sink, _schema(), compression="zstd")
        for rows in _grouped(self._tables(paths)):
            writer.write_table(rows)
            size = sink.tell()
            if size >= _WHOLE:
                writer.close()
                self._write(sink.getvalue())
                sink, size = io.BytesIO(), 0
                writer = pq.ParquetWriter(sink, _schema(), compression="zstd")
        writer.close()
        if size:
            self._write(sink.getvalue())
        return self._commit()

    def _tables(self, paths: Sequence[str]) -> Iterator[pa.Table]:
        known = file_hashes.recorded(paths)
        open_file = roots.reader(self.root)
        for path in paths:
            try:
                with open_file(f"{bronze.TABLE}/{path}") as file:
                    content = file.read()
                if path in known and file_hashes.sha256(content) != known[path]:
                    raise _FileAltered(path)
                yield _whole(pq.ParquetFile(io.BytesIO(content)).read(columns=_schema().names))
            except (FileNotFoundError, pa.ArrowException, KeyError) as error:
                raise _FileAltered(path) from error

    def _write(self, content: bytes) -> None:
        path = bronze.file_path(f"compacted-{uuid.uuid4().hex}", self.day)
        if isinstance(self.root, Path):
            landing.write_file(self.root / bronze.TABLE / path, content)
        else:
            roots.put(self.root, f"{bronze.TABLE}/{path}", content)
        file_hashes.record(path, content)
        self._written.append(path)

    def _commit(self) -> bool:
        open_file = roots.reader(self.root)
        # Repeats the transaction of the last commit of samples: Delta refuses this commit if
        # another process has added samples since ``table`` was read, which it would remove.
        last = Transaction(committer.APP, self.table.transaction_version(committer.APP) or 0)
        properties = CommitProperties(
            custom_metadata={delta.ROWS: delta.UNCHANGED}, app_transactions=[last]
        )
        try:
            self.table.create_write_transaction(
                [committer.add_action(open_file, p, data_change=False) for p in self._written],
                mode="overwrite",
                schema=self.table.schema(),
                partition_by=["date"],
                partition_filters=[("date", "=", self.day.isoformat())],
                commit_properties=properties,
            )
        except CommitFailedError:
            logger.warning("another process committed first; the day is compacted tomorrow")
            return False
        finally:
            # After a refusal too: the next day needs what the other process has committed.
            self.table.update_incremental()
        return True


def _whole(rows: pa.Table) -> pa.Table:
    """Return ``rows`` with all columns of bronze, in the order of the schema.

    A file may have an order of its own, and it may lack meters that were added later.

    Raises:
        ArrowException, KeyError: it lacks another column, or has one of another type.
    """
    for name in sorted(bronze.optional() - set(rows.column_names)):
        rows = rows.append_column(name, pa.nulls(rows.num_rows, pa.int64()))
    return rows.select(_schema().names).cast(_schema())


def _grouped(tables: Iterator[pa.Table]) -> Iterator[pa.Table]:
    """Join small tables until each has the rows of a row group."""
    waiting, n_rows = list[pa.Table](), 0
    for rows in tables:
        waiting.append(rows)
        n_rows += rows.num_rows
        if n_rows >= _ROW_GROUP:
            yield pa.concat_tables(waiting)
            waiting, n_rows = [], 0
    if n_rows:
        yield pa.concat_tables(waiting)


def _schema() -> pa.Schema:
    """Return the columns of a file: all but ``date``, which is in its path."""
    return pa.schema([column for column in bronze.schema() if column.name != "date"])


def _files_by_day(table: DeltaTable) -> dict[date, Counter[str]]:
    """Return {day: {path: bytes}} of the files of the open version."""
    found: dict[date, Counter[str]] = defaultdict(Counter)
    for action in pa.table(table.get_add_actions(flatten=True)).to_pylist():
        found[action["partition.date"]][unquote(action["path"])] = action["size_bytes"]
    return found
