"""Bronze rows for tests, written the way the product writes them."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Any

from deltalake import DeltaTable

from workers.metering import bronze, committer, roots
from workers.metering.roots import ObjectStore, Root
from workers.metering.source_states import SampleRow, floor_bucket

_DAY = datetime(2026, 11, 21, tzinfo=UTC)


def at(hour: int, minute: int = 0, second: int = 0, *, day: int = 0) -> datetime:
    return _DAY + timedelta(days=day, hours=hour, minutes=minute, seconds=second)


def row(taken_at: datetime, seq: int, **columns: Any) -> SampleRow:
    """A sample of queue ``orders`` on one broker, unless told otherwise."""
    plain = SampleRow(
        "ten_a",
        "spc_1",
        "spc_1/broker-0",
        "boot-1",
        seq,
        taken_at,
        floor_bucket(taken_at),
        address="orders",
        address_type="queue",
    )
    return SampleRow.of_columns({**plain.columns, **columns})


def beat(taken_at: datetime, seq: int, **columns: Any) -> SampleRow:
    """A heartbeat of the same broker."""
    return row(taken_at, seq, address="", address_type="", **columns)


class Landed:
    """Lands rows under one root; each call is one commit with the next number.

    ``table`` is the open table; None opens or makes it as the product does.
    """

    def __init__(self, root: Root, table: DeltaTable | None = None) -> None:
        self.root = root
        self.table = table or committer.ensure_table(root)
        self.number = self.table.transaction_version(committer.APP) or 0

    def __call__(self, *rows: SampleRow) -> int:
        """Land rows as one batch and return the new version of bronze."""
        return self.many([rows])

    def many(self, batches: Iterable[Sequence[SampleRow]]) -> int:
        """Land several batches in one commit and return the new version of bronze."""
        self.number += 1
        paths = [path for n, rows in enumerate(batches) for path in self._files(n, rows)]
        committer.commit_files(self.table, self.root, paths, self.number)
        return int(self.table.version())

    def _files(self, n: int, rows: Sequence[SampleRow]) -> list[str]:
        dated = groupby(sorted(rows, key=lambda r: r.date), key=lambda r: r.date)
        return [self._write(f"batch-{self.number}-{n}", d, list(of_day)) for d, of_day in dated]

    def _write(self, batch_id: str, day: Any, rows: Sequence[SampleRow]) -> str:
        path = bronze.file_path(batch_id, day)
        self._put(f"{bronze.TABLE}/{path}", bronze.encode(batch_id, rows))
        return path

    def _put(self, path: str, content: bytes) -> None:
        if isinstance(self.root, ObjectStore):
            roots.put(self.root, path, content)
            return
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_bytes(content)


def from_columns(columns: Mapping[str, Any]) -> SampleRow:
    """Return the row of a mapping of all bronze columns (random histories)."""
    own = {name: columns[name] for name in columns if name not in ("batch_id", "date")}
    return SampleRow.of_columns(own)
