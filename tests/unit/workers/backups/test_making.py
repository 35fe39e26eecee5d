"""A scheduled backup is of one instant, although everything goes on, and can be restored."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from controlplane.core.models import Lease
from controlplane.embedded import postgres
from tenants.models import AddressSpace
from tests.support.backups import DumpingContainer, FakeSnapshots, restore
from tests.support.metering.readings import snapshot
from tests.support.source_tree import ROOT
from tests.unit.workers.metering.conftest import FakeReaders, readers, root, space
from workers.backups.dumping import Dumper, DumpFailed
from workers.backups.instant import InstantLost
from workers.backups.making import Backups, Choice, SnapshotMissing
from workers.infra.backup_port import VolumeId
from workers.metering import committer, delta, ingest, sampling
from workers.models import LandingBatch

__all__ = ["readers", "root", "space"]

# pg_dump and the exported snapshot see only what is committed.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.enable_socket]
LAKEHOUSE = VolumeId("waypost", "waypost-lakehouse")


@pytest.fixture
def commit(space: AddressSpace, readers: FakeReaders, root: Path) -> Callable[[int], None]:
    """``commit(5)`` brings into bronze that 5 messages came so far."""

    def one(messages: int) -> None:
        readers.answers[space.id] = {"broker-0": snapshot("boot-1", orders=(messages, 0))}
        sampling.sample([space], readers)
        ingest.ingest()

    return one


@pytest.fixture
def container(tmp_path: Path) -> Iterator[DumpingContainer]:
    with DumpingContainer.running(tmp_path) as running:
        yield running


def backups(
    container: DumpingContainer,
    root: Path,
    *,
    choice: Choice | None = None,
    snapshots: FakeSnapshots | None = None,
    while_dumping: Callable[[], None] = lambda: None,
) -> Backups:
    """Return what makes backups; ``while_dumping`` runs after the dump was requested."""
    return Backups(
        container.backups,
        root,
        choice or Choice(keep=2),
        Dumper(container.exchange, container.sleep_and(while_dumping)),
        snapshots,
        timezone.now,
        container.sleep_and(lambda: None),
    )


def commits() -> int:
    return LandingBatch.objects.filter(commit_number__isnull=False).count()


def test_a_backup_of_a_busy_installation_is_of_one_instant_and_can_be_restored(
    container: DumpingContainer,
    root: Path,
    commit: Callable[[int], None],
    postgres_server: postgres.Server,
    tmp_path: Path,
) -> None:
    commit(5)
    at_the_instant = commits()

    made = backups(container, root, while_dumping=lambda: commit(7)).make()
    assert commits() > at_the_instant  # the dump was requested before this commit

    manifest = json.loads((made / "manifest.json").read_text())
    bronze = delta.open_table(made / "lakehouse", delta.BRONZE)
    assert manifest["lakehouse"]["commit"] == bronze.transaction_version(committer.APP) == 1
    assert manifest["lakehouse"]["tables"][delta.BRONZE]["version"] == bronze.version()
    assert delta.open_table(root, delta.BRONZE).version() > bronze.version()
    with restore(postgres_server, made, tmp_path) as restored:
        assert restored.count("workers_landingbatch WHERE state = 'committed'") == at_the_instant
        assert restored.count("tenants_addressspace") == AddressSpace.objects.count()
        fits = restored.after_restore(made / "lakehouse")
        # The present lakehouse is of another instant: a plain copy of it would not have fitted.
        differs = restored.after_restore(root)
    assert (fits.returncode, "fit" in fits.stdout) == (0, True), fits.stderr
    assert "restore.lakehouse_differs" in differs.stderr


def test_nobody_commits_before_the_lakehouse_is_snapshotted(
    container: DumpingContainer, root: Path, commit: Callable[[int], None]
) -> None:
    commit(5)
    known = commits()
    snapshots = FakeSnapshots(before_created=lambda: commit(7))

    made = backups(
        container,
        root,
        choice=Choice(2, LAKEHOUSE, with_brokers=True),
        snapshots=snapshots,
    ).make()

    manifest = json.loads((made / "manifest.json").read_text())
    assert snapshots.commits_before_created == known
    assert manifest["lakehouse"]["instant"] == snapshots.created_at
    assert manifest["lakehouse"]["snapshot"] == f"waypost-lakehouse-{made.name}"
    assert [row["claim"] for row in manifest["brokers"]] == ["data-broker-0-0"]
    assert not (made / "lakehouse").exists()
    commit(9)  # the lease is free again
    assert commits() > known


def test_a_backup_whose_lease_was_taken_is_none(
    container: DumpingContainer, root: Path, commit: Callable[[int], None]
) -> None:
    commit(5)

    def steal() -> None:
        """A commit by a process that took the expired lease while this one was paused."""
        Lease.objects.filter(name=committer.APP).delete()
        commit(7)

    snapshots = FakeSnapshots(before_created=steal)
    with pytest.raises(InstantLost):
        backups(container, root, choice=Choice(2, LAKEHOUSE), snapshots=snapshots).make()

    assert [path.name for path in container.backups.iterdir()] == [".partial"]


def test_old_backups_and_their_snapshots_are_deleted(
    container: DumpingContainer, root: Path, commit: Callable[[int], None]
) -> None:
    commit(5)
    for name in ("20260101t000000z", "20260102t000000z"):
        (container.backups / name).mkdir()
        (container.backups / name / "manifest.json").write_text("{}")
    (container.backups / "20260103t000000z").mkdir()  # somebody's own folder is left alone
    (container.backups / ".partial").mkdir()  # of a killed run
    (container.backups / ".partial" / "old").touch()
    snapshots = FakeSnapshots()

    made = backups(container, root, choice=Choice(2, LAKEHOUSE), snapshots=snapshots).make()

    left = sorted(path.name for path in container.backups.iterdir())
    assert left == ["20260102t000000z", "20260103t000000z", made.name]
    assert snapshots.kept == ["20260102t000000z", made.name]
    assert not (made / "old").exists()


def test_a_dump_that_fails_is_told(container: DumpingContainer) -> None:
    (container.backups / ".partial").mkdir()
    dumper = Dumper(container.exchange, container.sleep_and(lambda: None))

    with pytest.raises(DumpFailed, match=r"pg_dump ended with 1\.(?s:.*)invalid snapshot"):
        dumper.dump("gone")

    assert list(container.exchange.glob("re*")) == []


def test_a_snapshot_that_never_comes_is_told(
    container: DumpingContainer, root: Path, commit: Callable[[int], None]
) -> None:
    commit(5)
    snapshots = FakeSnapshots(trouble="no such class: fast")
    maker = backups(container, root, choice=Choice(2, LAKEHOUSE), snapshots=snapshots)
    hasty = Backups(
        maker.folder,
        root,
        maker.choice,
        maker.dumper,
        snapshots,
        timezone.now,
        lambda _seconds: None,
    )

    with pytest.raises(SnapshotMissing, match="no such class: fast"):
        hasty.make()


def test_the_command_makes_a_backup(
    container: DumpingContainer, root: Path, commit: Callable[[int], None]
) -> None:
    """As the chart's container runs it: in a process of its own."""
    commit(5)
    ran = subprocess.run(
        [
            *(sys.executable, "-m", "django", "back_up", str(container.backups)),
            *("--exchange", str(container.exchange), "--keep", "3"),
        ],
        cwd=ROOT,
        env={
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "controlplane.settings",
            "WAYPOST_DATABASE_URL": container.database_url(),
            "WAYPOST_LAKEHOUSE_ROOT": str(root),
        },
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.returncode == 0, ran.stderr
    (made,) = container.backups.iterdir()
    assert ran.stdout.strip() == str(made)
    assert {path.name for path in made.iterdir()} == {"manifest.json", "database.dump", "lakehouse"}
    assert connection.settings_dict["NAME"] in container.database_url()


@pytest.mark.parametrize("keep", [0, -1])
def test_fewer_than_one_backup_is_refused_before_anything_is_made(
    keep: int, tmp_path: Path
) -> None:
    with pytest.raises(CommandError, match="--keep must be 1 or more"):
        call_command("back_up", tmp_path, exchange=tmp_path, keep=keep)
    with pytest.raises(ValueError, match="keep"):
        Choice(keep=keep)

    assert list(tmp_path.iterdir()) == []
