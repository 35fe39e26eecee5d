"""From states to files to the Delta log: nothing lost, nothing twice, whatever is killed when."""

import errno
import os
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable
from deltalake.exceptions import CommitFailedError

from controlplane.core import leases
from controlplane.core.errors import WaypostError
from tests.support.metering.landed import LANDED_ONCE, rows
from tests.unit.workers.metering.conftest import clock
from workers.metering import bronze, committer, delta, ingest, landing
from workers.models import LandingBatch, MeteredSource

pytestmark = pytest.mark.django_db
State = LandingBatch.State


def test_ingest_brings_what_moved_into_bronze(root: Path, play: Callable[..., None]) -> None:
    play(orders=(5, 0))

    ingest.ingest()

    assert rows(root) == LANDED_ONCE
    assert LandingBatch.objects.get().state == State.COMMITTED
    assert LandingBatch.objects.get().rows == []


def test_ingest_again_adds_nothing(root: Path, play: Callable[..., None]) -> None:
    play(orders=(5, 0))
    ingest.ingest()

    ingest.ingest()

    assert rows(root) == LANDED_ONCE
    assert MeteredSource.objects.get(source__endswith="broker-0").seq == 1


def test_rows_are_reserved_with_the_states_or_not_at_all(
    play: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    play(orders=(5, 0))
    monkeypatch.setattr(landing, "reserve", _killed)

    with pytest.raises(KeyboardInterrupt):
        landing.reserve_moved()

    assert MeteredSource.objects.get(source__endswith="broker-0").seq == 0
    assert MeteredSource.objects.get(source__endswith="broker-0").addresses["orders"]["moved"]


def test_killed_before_the_file_the_batch_is_written_under_its_id(
    root: Path, play: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    play(orders=(5, 0))
    with monkeypatch.context() as killed:
        killed.setattr(landing, "write_file", _killed)
        with pytest.raises(KeyboardInterrupt):
            ingest.ingest()
    reserved = LandingBatch.objects.get()

    ingest.ingest()

    assert reserved.state == State.RESERVED
    assert [path.stem for path in root.rglob("*.parquet")] == [reserved.id]
    assert rows(root) == LANDED_ONCE


def test_killed_between_file_and_outbox_the_same_file_is_written_again(
    root: Path, play: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    play(orders=(5, 0))
    with monkeypatch.context() as killed:
        killed.setattr(landing, "_sync_folder", _killed)
        with pytest.raises(KeyboardInterrupt):
            ingest.ingest()
    [file] = root.rglob("*.parquet")
    first = file.read_bytes()

    ingest.ingest()

    assert [path.read_bytes() for path in root.rglob("*.parquet")] == [first]
    assert rows(root) == LANDED_ONCE


def test_killed_between_commit_and_outbox_the_batch_is_not_committed_twice(
    root: Path, play: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    play(orders=(5, 0))
    commit_files = committer.commit_files

    def commit_and_die(*arguments: Any) -> None:
        commit_files(*arguments)
        raise KeyboardInterrupt

    with monkeypatch.context() as killed:
        killed.setattr(committer, "commit_files", commit_and_die)
        with pytest.raises(KeyboardInterrupt):
            ingest.ingest()
    between = LandingBatch.objects.get().state

    ingest.ingest()

    assert between == State.LANDED
    assert LandingBatch.objects.get().state == State.COMMITTED
    assert rows(root) == LANDED_ONCE


def test_batch_landed_while_a_commit_was_killed_waits_for_the_next_number(
    root: Path, play: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    play(orders=(5, 0))
    with monkeypatch.context() as killed:
        killed.setattr(committer, "commit_files", _killed)
        with pytest.raises(KeyboardInterrupt):
            ingest.ingest()
    play(orders=(7, 0))

    ingest.ingest()

    numbers = LandingBatch.objects.order_by("number").values_list("commit_number", flat=True)
    assert list(numbers) == [1, 2]
    assert ("broker-0", "orders", 2, 7) in rows(root)
    assert len(rows(root)) == 6


def test_what_an_outage_left_is_taken_in_by_several_commits(
    root: Path, play: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(committer, "_MOST", 2)
    for count in range(1, 6):
        play(orders=(count, 0))
        landing.reserve_moved()
    landing.write_reserved(root)

    assert committer.commit_landed(root) == 5

    numbers = LandingBatch.objects.order_by("number").values_list("commit_number", flat=True)
    assert list(numbers) == [1, 1, 2, 2, 3]
    assert len(rows(root)) == 15


def test_commit_from_an_old_view_of_the_table_is_refused(
    root: Path, play: Callable[..., None]
) -> None:
    play(orders=(5, 0))
    landing.reserve_moved()
    landing.write_reserved(root)
    path = LandingBatch.objects.get().path
    ours = committer.ensure_table(root)
    old_view = DeltaTable(str(root / bronze.TABLE))

    committer.commit_files(ours, root, [path], 1)

    with pytest.raises(CommitFailedError):
        committer.commit_files(old_view, root, [path], 1)
    assert committer.commit_files(DeltaTable(str(root / bronze.TABLE)), root, [path], 1) is False
    assert rows(root) == LANDED_ONCE


def test_commit_is_left_to_the_holder_of_the_lease(root: Path, play: Callable[..., None]) -> None:
    play(orders=(5, 0))
    leases.acquire(committer.APP, "somebody else", 60)

    assert ingest.ingest() == 0

    assert LandingBatch.objects.get().state == State.LANDED


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (errno.ENOSPC, "metering.disk_full"),
        (errno.EDQUOT, "metering.disk_full"),
        (errno.EROFS, "metering.landing_failed"),
    ],
)
def test_disk_that_refuses_is_a_clear_error_and_loses_nothing(
    root: Path,
    play: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
    number: int,
    code: str,
) -> None:
    play(orders=(5, 0))

    def refuse(_: int) -> None:
        raise OSError(number, "refused")

    with monkeypatch.context() as full:
        full.setattr(os, "fsync", refuse)
        with pytest.raises(WaypostError) as refused:
            ingest.ingest()
    left = [
        path.name for path in root.rglob("*") if path.is_file() and "_delta_log" not in str(path)
    ]
    ingest.ingest()

    assert refused.value.error_code == code
    assert "Nothing is lost" in refused.value.message
    assert left == []
    assert rows(root) == LANDED_ONCE


def test_rows_of_two_days_land_in_a_file_each(
    root: Path, play: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    play(orders=(5, 0))
    yesterday = MeteredSource.objects.get(source__endswith="broker-0")
    assert yesterday.bucket_at is not None
    yesterday.bucket_at = yesterday.bucket_at.replace(year=2020)
    yesterday.save()

    ingest.ingest()

    assert len({path.parent.name for path in root.rglob("*.parquet")}) == 2
    assert rows(root) == LANDED_ONCE


def test_files_carry_statistics_that_hold_their_instants(
    root: Path, play: Callable[..., None]
) -> None:
    play(orders=(5, 0))
    ingest.ingest()

    table = delta.open_table(root, delta.BRONZE)
    [action] = pa.table(table.get_add_actions(flatten=True)).to_pylist()
    taken = [r["taken_at"] for r in delta.ask("SELECT taken_at FROM b", {"b": table})]

    assert action["num_records"] == 3
    assert action["min.taken_at"] <= min(taken)
    assert action["max.taken_at"] >= max(taken)


def test_tidy_removes_old_temporary_files(root: Path) -> None:
    folder = root / bronze.TABLE / "date=2026-11-21"
    folder.mkdir(parents=True)
    (folder / ".x.parquet.1.tmp").touch()
    half_an_hour_ago = (clock() - timedelta(minutes=30)).timestamp()
    os.utime(folder / ".x.parquet.1.tmp", (half_an_hour_ago, half_an_hour_ago))

    assert landing.remove_orphans(root, clock()) == 0
    assert landing.remove_orphans(root, clock(), older_than=timedelta(minutes=29)) == 1


def _killed(*_: Any, **__: Any) -> None:
    raise KeyboardInterrupt
