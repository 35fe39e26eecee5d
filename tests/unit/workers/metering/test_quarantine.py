"""The copy of quarantined samples: only new ones, once, and no more than it keeps."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from workers.metering import delta, quarantine
from workers.models import QuarantinedSample

pytestmark = pytest.mark.django_db
AT = datetime(2026, 11, 21, 10, tzinfo=UTC)
_TEXT = ("tenant_id", "space_id", "source", "boot_id", "address", "batch_id", "reason", "detail")
SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in _TEXT),
        *((name, pa.int64()) for name in ("seq", "epoch")),
        ("taken_at", pa.timestamp("us", tz="UTC")),
    ]
)


def refused(seq: int, **columns: Any) -> Mapping[str, Any]:
    """Return a row of the quarantine; each is taken a second after the one with a lower ``seq``."""
    text = {**dict.fromkeys(_TEXT, "x"), "reason": "time", "detail": ""}
    return {**text, "seq": seq, "epoch": 0, "taken_at": AT + timedelta(seconds=seq), **columns}


def write(root: Path, rows: Iterable[Mapping[str, Any]]) -> DeltaTable:
    path = root / delta.FOLDERS[delta.QUARANTINE]
    write_deltalake(path, pa.Table.from_pylist(list(rows), schema=SCHEMA), mode="append")
    return DeltaTable(path)


def copied() -> list[int | None]:
    return list(QuarantinedSample.objects.order_by("id").values_list("seq", flat=True))


def test_rows_are_copied_once(tmp_path: Path) -> None:
    assert quarantine.copy_newest(tmp_path) == 0  # no table yet
    write(tmp_path, [refused(1), refused(2)])

    first, again = quarantine.copy_newest(tmp_path), quarantine.copy_newest(tmp_path)
    write(tmp_path, [refused(3)])

    assert (first, again, quarantine.copy_newest(tmp_path)) == (2, 0, 1)
    assert copied() == [1, 2, 3]


def test_only_new_files_are_read(tmp_path: Path) -> None:
    table = write(tmp_path, [refused(1)])
    quarantine.copy_newest(tmp_path)
    (old,) = table.file_uris()
    Path(old).unlink()
    write(tmp_path, [refused(2)])

    assert quarantine.copy_newest(tmp_path) == 1
    assert copied() == [1, 2]


def test_a_compaction_adds_nothing_and_is_read_once(tmp_path: Path) -> None:
    write(tmp_path, [refused(1)])
    table = write(tmp_path, [refused(2)])
    quarantine.copy_newest(tmp_path)
    table.optimize.compact()

    assert quarantine.copy_newest(tmp_path) == 0
    (compacted,) = DeltaTable(tmp_path / delta.FOLDERS[delta.QUARANTINE]).file_uris()
    Path(compacted).unlink()
    assert quarantine.copy_newest(tmp_path) == 0
    assert copied() == [1, 2]


def test_the_newest_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quarantine, "KEPT", 3)
    write(tmp_path, [refused(seq) for seq in (4, 1, 3, 2)])
    quarantine.copy_newest(tmp_path)
    assert copied() == [2, 3, 4]

    write(tmp_path, [refused(5), refused(6)])
    quarantine.copy_newest(tmp_path)

    assert copied() == [4, 5, 6]


def test_a_row_without_any_value_is_copied(tmp_path: Path) -> None:
    nothing = dict.fromkeys((*_TEXT, "seq", "epoch", "taken_at"))
    write(tmp_path, [{**nothing, "reason": "null"}, refused(1, address="a" * 400)])

    assert quarantine.copy_newest(tmp_path) == 2

    empty, cut = QuarantinedSample.objects.order_by("id")
    assert (empty.source, empty.seq, empty.taken_at, empty.reason) == ("", None, None, "null")
    assert len(cut.address) == 300


def test_a_lakehouse_that_is_older_than_the_copy_is_compared_whole(tmp_path: Path) -> None:
    write(tmp_path, [refused(1)])
    quarantine.copy_newest(tmp_path)
    QuarantinedSample.objects.update(table_version=9)
    table = write(tmp_path, [refused(2)])

    assert quarantine.copy_newest(tmp_path) == 1
    for file in table.file_uris():
        Path(file).unlink()
    assert quarantine.copy_newest(tmp_path) == 0
    assert copied() == [1, 2]
