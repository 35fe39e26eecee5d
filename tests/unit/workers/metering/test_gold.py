"""Gold into PostgreSQL: whole days, once, never back; one tenant's cells at a pinned version."""

import gc
import shutil
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from controlplane.core.errors import WaypostError
from plans.models import UsageRecord
from plans.usage import reading, recording
from plans.usage.reading import UsageCell
from tests.support.lakehouse.samples import Landed, row
from tests.support.metering.deltas import write_gold
from tests.support.metering.readings import at
from workers.metering import delta, gold
from workers.metering.pipeline import Table

pytestmark = pytest.mark.django_db
TOMORROW = timedelta(days=1)


def cell(hour: int, quantity: int, *, tenant: str = "ten_a", days: int = 0) -> UsageCell:
    bucket_at = at(hour) + days * TOMORROW
    return UsageCell(tenant, "spc_1", "orders", "messages_in", bucket_at, quantity)


def copied() -> list[tuple[str, int]]:
    rows = UsageRecord.objects.order_by("bucket_at")
    return [(f"{row.bucket_at:%d %H}", row.quantity) for row in rows]


def test_copy_before_any_pipeline_run_does_nothing(root: Path) -> None:
    assert gold.copy_newest(root) is None


def test_copy_brings_every_cell_and_says_as_of(root: Path) -> None:
    pin = write_gold(root, [cell(10, 5), cell(1, 7, days=1)], at(11))

    assert gold.copy_newest(root) == pin.version

    assert copied() == [("21 10", 5), ("22 01", 7)]
    assert reading.as_of() == at(11)


def test_the_lakehouse_is_read_before_the_copy_opens_its_transaction(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_gold(root, [cell(10, 5)], at(11))
    order: list[str] = []
    columns, copy_in = delta.columns, recording.copy_in

    def read(*args: Any) -> Any:
        order.append("read")
        return columns(*args)

    def copy(**given: Any) -> Any:
        order.append("copy")
        return copy_in(**given)

    monkeypatch.setattr(delta, "columns", read)
    monkeypatch.setattr(recording, "copy_in", copy)

    gold.copy_newest(root)

    assert order == ["read", "copy"]
    assert copied() == [("21 10", 5)]


def test_copy_again_does_nothing(root: Path) -> None:
    write_gold(root, [cell(10, 5)], at(11))
    gold.copy_newest(root)

    assert gold.copy_newest(root) is None


def test_copy_takes_days_changed_in_versions_that_were_never_copied(root: Path) -> None:
    write_gold(root, [cell(10, 5), cell(1, 7, days=1)], at(11))
    gold.copy_newest(root)
    write_gold(root, [cell(10, 6), cell(1, 8, days=1)], at(12))
    write_gold(root, [cell(1, 9, days=1)], at(13))

    gold.copy_newest(root)

    assert copied() == [("21 10", 6), ("22 01", 9)]
    assert reading.as_of() == at(13)


def test_changed_days_are_those_whose_files_differ(root: Path) -> None:
    write_gold(root, [cell(10, 5), cell(1, 7, days=1)], at(11))
    pin = write_gold(root, [cell(1, 8, days=1)], at(12))
    table = delta.open_table(root, delta.USAGE)

    days = gold.changed_days(root, table, pin.version - 1)

    assert days == {(at(1) + TOMORROW).date()}


def test_cells_are_those_of_the_pinned_version(root: Path) -> None:
    pin = write_gold(root, [cell(10, 5), cell(11, 1), cell(10, 9, tenant="ten_b")], at(12))
    write_gold(root, [cell(10, 6)], at(13))

    found = gold.cells(root, pin, "ten_a", at(10), at(11))

    assert found == [cell(10, 5)]


def test_a_read_leaves_garbage_collection_as_it_was(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pin, seen = write_gold(root, [cell(10, 5)], at(12)), list[bool]()
    values = gold._values

    def watched(column: Any) -> Iterator[Any]:
        for value in values(column):
            seen.append(gc.isenabled())
            yield value

    monkeypatch.setattr(gold, "_values", watched)

    gold.cells(root, pin, "ten_a", at(10), at(11))

    assert (set(seen), gc.isenabled()) == ({False}, True)


def test_cells_of_a_replaced_table_are_refused(root: Path) -> None:
    pin = write_gold(root, [cell(10, 5)], at(12))

    with pytest.raises(WaypostError) as refused:
        gold.cells(root, Table("another", pin.version), "ten_a", at(10), at(11))

    assert refused.value.error_code == "metering.table_replaced"


def test_a_value_that_somebody_removed_from_a_file_is_read_as_none(root: Path) -> None:
    """So a verification names the row instead of failing."""
    pin = write_gold(root, [cell(10, 5)], at(12))
    [file] = root.glob("gold/usage/date=*/*.parquet")
    rows = pq.read_table(file, partitioning=None)
    nothing = pa.nulls(len(rows), pa.string())
    at_index = rows.schema.get_field_index("address")
    pq.write_table(rows.set_column(at_index, "address", nothing), file)

    found: list[Any] = gold.cells_by_arrow(root, pin, "ten_a", at(10), at(12))

    assert [(row.address, row.quantity) for row in found] == [(None, 5)]


def test_cells_of_a_table_that_is_gone_are_refused(root: Path) -> None:
    pin = write_gold(root, [cell(10, 5)], at(12))
    shutil.rmtree(root)

    with pytest.raises(WaypostError, match="restore the lakehouse") as refused:
        gold.cells(root, pin, "ten_a", at(10), at(11))

    assert refused.value.error_code == "metering.table_replaced"


def test_cells_of_a_version_that_is_gone_are_refused(root: Path) -> None:
    pin = write_gold(root, [cell(10, 5)], at(12))

    with pytest.raises(WaypostError, match="restore the lakehouse") as refused:
        gold.cells(root, Table(pin.id, pin.version + 1), "ten_a", at(10), at(11))

    assert refused.value.error_code == "metering.table_replaced"


def test_cells_of_files_that_are_gone_are_refused(root: Path) -> None:
    pin = write_gold(root, [cell(10, 5)], at(12))
    for file in root.glob("gold/usage/date=*/*.parquet"):
        file.unlink()

    with pytest.raises(WaypostError, match="restore the lakehouse") as refused:
        gold.cells(root, pin, "ten_a", at(10), at(11))

    assert refused.value.error_code == "metering.table_replaced"


def test_gold_is_current_when_it_was_made_from_the_newest_bronze(root: Path) -> None:
    before = gold.is_current(root)
    landed = Landed(root)
    version = landed(row(at(10), 1, messages_in=5))
    without_gold = gold.is_current(root)
    write_gold(root, [cell(10, 5)], at(11), bronze_version=version)
    made = gold.is_current(root)
    landed(row(at(10), 2, messages_in=6))

    assert (before, without_gold, made, gold.is_current(root)) == (True, False, True, False)
