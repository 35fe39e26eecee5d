"""Which tables housekeeping compacts and vacuums; Spark is faked."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import date
from types import SimpleNamespace
from typing import Any

import pytest

from lakehouse import schemas, tables
from lakehouse.jobs import housekeeping
from lakehouse.schemas import Table
from lakehouse.tables import Lake

ROOT = "/lake"
N_FILES = 20  # more than a table without days may have


@dataclass
class FakeDelta:
    """Records the paths of the tables that are compacted and vacuumed."""

    compacted: list[str] = field(default_factory=list)
    vacuumed: list[str] = field(default_factory=list)

    def for_path(self, _spark: object, path: str) -> Any:
        optimize = SimpleNamespace(executeCompaction=lambda: self.compacted.append(path))
        optimize.where = lambda _condition: optimize
        return SimpleNamespace(optimize=lambda: optimize, vacuum=lambda: self.vacuumed.append(path))


@pytest.fixture
def delta(monkeypatch: pytest.MonkeyPatch) -> FakeDelta:
    """Every table exists and has many files."""
    fake = FakeDelta()

    def files(_lake: Lake, table: Table) -> Counter[str]:
        return Counter({"2026-04-01" if "date" in table.partition_by else "": N_FILES})

    monkeypatch.setattr(Lake, "log", lambda *_: SimpleNamespace(is_there=True))
    monkeypatch.setattr(tables, "ensure", lambda *_: None)
    monkeypatch.setattr(tables, "files_by_date", files)
    monkeypatch.setattr(housekeeping, "rest", lambda _lake: None)
    monkeypatch.setattr(housekeeping, "DeltaTable", SimpleNamespace(forPath=fake.for_path))
    return fake


def test_all_tables_but_bronze_are_vacuumed(delta: FakeDelta) -> None:
    spark: Any = None
    report = housekeeping.run(Lake(spark, ROOT), date(2026, 5, 1))["tables"]

    kept = [*schemas.DERIVED, *schemas.ON_DEMAND]
    assert delta.vacuumed == [f"{ROOT}/{table.path}" for table in kept]
    assert list(report) == [table.name for table in kept]


def test_tables_of_partitions_that_are_written_whole_are_not_compacted(delta: FakeDelta) -> None:
    spark: Any = None
    report = housekeeping.run(Lake(spark, ROOT), date(2026, 5, 1))["tables"]

    assert delta.compacted == [f"{ROOT}/{table.path}" for table in schemas.DERIVED]
    assert report["gold.backtest"] == {
        "days": 0,
        "files_before": N_FILES,
        "files_after": N_FILES,
    }
