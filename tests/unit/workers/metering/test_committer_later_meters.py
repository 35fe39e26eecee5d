"""A bronze table of before some meters were added: it gets their columns, and nothing else changes.

Files with columns that the table does not declare yet do no harm, and are read once it does.
"""

import json
import sys
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable
from deltalake.exceptions import CommitFailedError
from django.utils import timezone

from plans.invoicing.evidence import UsageKey
from plans.rating.periods import Period
from tests.support.lakehouse import older
from tests.support.lakehouse.samples import Landed, at, beat, row
from tests.support.metering.deltas import write_gold
from tests.unit.workers.metering.test_pipeline import REPORT
from workers.metering import (
    bronze,
    bronze_housekeeping,
    committer,
    delta,
    gold,
    pipeline,
    recompute,
)
from workers.metering.pipeline import SparkJob, Table

PERIOD = Period(at(10), at(11))
OLD = (row(at(10, 1), 1, messages_in=5), beat(at(10, 1), 1))
NEW = (row(at(10, 5), 2, messages_in=7, bytes_in=100, steps_64k_in=1), beat(at(10, 5), 2))
FOLDER = bronze.TABLE


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A lakehouse whose bronze an older version wrote, with one commit of two samples."""
    Landed(tmp_path / "made")(*OLD)
    return older.copy(tmp_path / "made", tmp_path / "old")


def ask(root: Path, version: int | None = None) -> recompute.Question:
    table = delta.open_table(root, delta.BRONZE, version=version)
    pin = Table(str(table.metadata().id), int(table.version()))
    return recompute.question(root, pin, "ten_a", PERIOD)


def land_undeclared(root: Path) -> None:
    """Commit a file of new samples to the table as it is."""
    Landed(root, DeltaTable(root / FOLDER))(*NEW)


def used(**meters: int) -> dict[UsageKey, int]:
    return {UsageKey("spc_1", "orders", meter): quantity for meter, quantity in meters.items()}


def test_columns_are_added_once_and_the_rows_stay(old: Path) -> None:
    before = DeltaTable(old / FOLDER)

    table = committer.ensure_table(old)
    again = committer.ensure_table(old)

    assert older.columns(old, FOLDER) == bronze.optional()
    assert again.version() == table.version() == before.version() + 1
    assert table.file_uris() == before.file_uris()
    assert table.metadata().id == before.metadata().id
    assert table.metadata().configuration == before.metadata().configuration
    assert table.protocol() == before.protocol()
    [bytes_in] = [field for field in table.schema().fields if field.name == "bytes_in"]
    assert bytes_in.metadata["comment"] == bronze.meanings()["bytes_in"]
    rows = delta.ask("SELECT DISTINCT bytes_in, steps_64k_out FROM b", {"b": table})
    assert rows == [{"bytes_in": None, "steps_64k_out": None}]


def test_columns_are_no_new_rows(old: Path) -> None:
    made_from = int(DeltaTable(old / FOLDER).version())
    write_gold(old, [], timezone.now(), bronze_version=made_from)

    committer.add_lacking(old)

    assert delta.has_rows_of(delta.open_table(old, delta.BRONZE), made_from)
    assert gold.is_current(old)


def test_nothing_is_made_where_there_is_no_bronze(tmp_path: Path) -> None:
    committer.add_lacking(tmp_path)

    assert list(tmp_path.iterdir()) == []


def test_samples_that_land_after_the_columns_count(old: Path) -> None:
    committer.add_lacking(old)
    land_undeclared(old)

    assert recompute.totals(ask(old)) == used(messages_in=7, bytes_in=100, steps_64k_in=1)


def test_samples_that_landed_before_the_columns_count_after_them(old: Path) -> None:
    land_undeclared(old)
    pinned = int(DeltaTable(old / FOLDER).version())
    before = recompute.totals(ask(old))

    committer.add_lacking(old)

    assert before == used(messages_in=7)
    assert recompute.totals(ask(old)) == used(messages_in=7, bytes_in=100, steps_64k_in=1)
    assert recompute.totals(ask(old, pinned)) == before


def test_a_pinned_version_reads_the_same_afterwards(old: Path) -> None:
    pinned = int(DeltaTable(old / FOLDER).version())
    before = (recompute.totals(ask(old)), recompute.samples(ask(old)))

    committer.add_lacking(old)

    for version in (pinned, None):
        query = ask(old, version)
        assert (recompute.totals(query), recompute.samples(query)) == before
    made = ask(old.parent / "made")  # where the same samples have zeros
    assert recompute.samples(made) == before[1]


def test_commit_from_a_view_of_before_the_columns_is_refused_and_done_later(old: Path) -> None:
    landed = Landed(old, DeltaTable(old / FOLDER))
    committer.add_lacking(old)

    with pytest.raises(CommitFailedError):
        landed(*NEW)

    land_undeclared(old)
    assert recompute.totals(ask(old))[UsageKey("spc_1", "orders", "bytes_in")] == 100


def test_two_that_add_the_columns_at_once_both_go_on(
    old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lacking = committer._lacking
    answers = iter([True])

    def meanwhile(table: DeltaTable) -> list[str]:
        found = lacking(table)
        if next(answers, False):  # another process adds them before this one does
            committer.ensure_table(old)
        return found

    monkeypatch.setattr(committer, "_lacking", meanwhile)

    committer.ensure_table(old)

    assert older.columns(old, FOLDER) == bronze.optional()


def test_a_null_after_a_number_is_no_reset_and_changes_no_hash(old: Path) -> None:
    """As if a worker of the former version landed a sample once more."""
    committer.add_lacking(old)
    land_undeclared(old)
    name = bronze.file_path("once-more", date(2026, 11, 21))
    made = Landed(old.parent / "more")
    made(row(at(10, 9), 3, messages_in=8), beat(at(10, 9), 3))
    [file] = (older.copy(old.parent / "more", old.parent / "late") / FOLDER).rglob("*.parquet")
    (old / FOLDER / name).write_bytes(file.read_bytes())

    committer.commit_files(DeltaTable(old / FOLDER), old, [name], 3)

    query = ask(old)
    assert recompute.counter_resets(query) == ()
    assert recompute.totals(query) == used(messages_in=8, bytes_in=100, steps_64k_in=1)
    shown = recompute.sample_rows(query, 0, 10)
    assert [r["bytes_in"] for r in shown if r["address"]] == [0, 100, 0]
    counters, n_counters = recompute.counters(query, 10)
    assert n_counters == 2
    assert [c["after_bytes_in"] or 0 for c in counters] == [0, 100]


@pytest.mark.django_db
def test_old_files_are_compacted_with_their_nulls(old: Path) -> None:
    committer.add_lacking(old)
    land_undeclared(old)
    before = (recompute.totals(ask(old)), recompute.samples(ask(old)))

    done = bronze_housekeeping.compact(old, date(2026, 12, 21))

    assert done is not None
    assert (done.days, done.altered, done.files_after) == (1, (), 1)
    assert (recompute.totals(ask(old)), recompute.samples(ask(old))) == before
    table = delta.open_table(old, delta.BRONZE)
    rows = delta.ask("SELECT bytes_in FROM b WHERE address <> '' ORDER BY seq", {"b": table})
    assert rows == [{"bytes_in": None}, {"bytes_in": 100}]
    newest = sorted((old / FOLDER / "_delta_log").glob("*.json"))[-1].read_text()
    assert "metaData" not in newest  # a compaction changes no schema


@pytest.mark.django_db
def test_the_pipeline_adds_the_columns_before_its_job_reads(
    old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The job ends with an error if bronze lacks the columns when it starts."""
    log = str(old / FOLDER / "_delta_log")
    code = (
        f"import pathlib; log = sorted(pathlib.Path({log!r}).glob('*.json'))[-1].read_text(); "
        f"assert 'bytes_in' in log; print('''{json.dumps(REPORT)}''')"
    )
    monkeypatch.setattr(SparkJob, "command", lambda job: [sys.executable, "-c", code])

    assert pipeline.run(old).bronze_version == 3


def test_new_samples_always_have_numbers(tmp_path: Path) -> None:
    landed = Landed(tmp_path)
    landed(*OLD)
    rows: list[dict[str, Any]] = delta.ask("SELECT * FROM b", {"b": landed.table})

    assert {row[meter] for row in rows for meter in bronze.optional()} == {0}
